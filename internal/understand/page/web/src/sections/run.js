import {h, list, section, details} from '../dom.js';
import {plural} from '../numbers.js';
import {machine} from '../words.js';
import {table} from '../table.js';

const marks = {good: ['✓', 'good'], warn: ['!', 'caution'], bad: ['✗', 'bad']};

export function duration(seconds) {
  const s = Math.round(seconds);
  return s < 60 ? `${s} s` : s < 3600 ? `${Math.floor(s / 60)} min ${s % 60} s` : `${Math.floor(s / 3600)} h ${Math.floor(s % 3600 / 60)} min`;
}

export function when(run) {
  const from = new Date(run.started), to = new Date(run.finished ?? NaN);
  const s = Number.isNaN(+from) ? '' : `${from.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  return to > from ? `${s}, in ${duration((to - from) / 1000)}` : s;
}

function protocol(m) {
  const p = m.data.run.protocol ?? {}, r = m.data.run, open = p.until || p.time_budget_ns || r.gate;
  return [plural(m.envs.length, 'environment'), m.works.length > 1 && plural(m.works.length, 'workload'),
    `${open ? `${r.blocks} of at most ${plural(p.blocks, 'block')}` : plural(p.blocks, 'block')} of ${plural(Math.max(1, p.per_block ?? 1), 'trial')} each`,
    p.warmup && `${plural(p.warmup, 'warm-up block')} before, not counted`, p.order && `${p.order} order`, p.cache && `${p.cache} cache`].filter(Boolean).join(', ');
}

// trust stands in a line or two, each remark with its text behind it, so that
// the verdict is on the first screen. What speaks against the run is open.
function trust(m) {
  const all = list(m.data.trust);
  return all.length ? h('ul', {class: 'trust folded'}, all.map((t, i) => h('li', {class: `trust-${t.level}`}, h('details', {id: `trust-${i}`, open: t.level === 'bad'},
    h('summary', null, h('span', {class: 'mark', 'aria-hidden': 'true'}, (marks[t.level] ?? ['·'])[0]), h('strong', null, t.title), h('span', {class: 'hidden'}, ` (${(marks[t.level] ?? ['', t.level])[1]})`)),
    h('p', null, t.text))))) : null;
}

export function failureRows(m) {
  const rows = [];
  for (const w of m.works) for (const c of list(w.counts)) for (const f of list(c.classes)) rows.push([m.nameOf(c.env), w.title, f.class, {t: `${f.n} of ${c.trials}`, v: f.n, num: true}, f.text]);
  return rows;
}

function excluded(m) {
  const by = new Map();
  for (const x of list(m.data.excluded)) {
    const key = [x.kind, x.reason, x.fix].join('\n'), e = by.get(key) ?? {...x, names: []};
    e.names.push(x.workload ? `${x.id} with ${x.workload}` : x.id);
    by.set(key, e);
  }
  return [...by.values()].map(x => [x.names.join(', '), x.kind, x.reason, x.fix ? h('code', null, x.fix) : '']);
}

function remarks(m) {
  const by = new Map();
  for (const r of list(m.data.remarks)) {
    const key = [r.code, r.level, r.text, r.advice].join('\n'), e = by.get(key) ?? {...r, where: new Set()};
    const at = [m.nameOf(r.env), m.works.find(w => w.id === r.workload)?.title, r.metric].filter(Boolean).join(', ');
    if (at) e.where.add(at);
    by.set(key, e);
  }
  return [...by.values()].map(r => [r.level, [...r.where].slice(0, 8).join('; ') + (r.where.size > 8 ? ` and ${r.where.size - 8} more` : ''), r.text, r.advice ?? '']);
}

export function run(m) {
  const r = m.data.run, failed = failureRows(m), ex = excluded(m), re = remarks(m);
  return section('run', 'What was measured', null,
    h('dl', {class: 'facts'},
      h('dt', null, 'Study'), h('dd', null, r.study, r.scale ? ` (${r.scale})` : '', r.title ? `: ${r.title}` : ''),
      h('dt', null, 'Protocol'), h('dd', null, protocol(m)),
      h('dt', null, 'Machine'), h('dd', null, machine(r.host ?? {})),
      h('dt', null, 'When'), h('dd', null, when(r), r.status && r.status !== 'done' ? `, ${r.status}` : ''),
      h('dt', null, 'Trials'), h('dd', null, `${r.trials}${r.warmup ? `, of which ${r.warmup} warm-up` : ''}; ${r.unsupported ? `${r.unsupported} unsupported, ` : ''}${r.failed - (r.unsupported ?? 0)} failed`),
      h('dt', null, 'Run'), h('dd', null, r.id, r.tool?.version ? `, plimsoll ${r.tool.version}` : '')),
    h('h3', null, 'Can it be trusted?'),
    trust(m) ?? h('p', null, 'Nothing is known about that.'),
    failed.length ? details('failures', `Failures (${r.failed} of ${r.trials - r.warmup} trials)`, () => table({name: 'failures-table', title: 'Failures', rows: [['environment', 'workload', 'class', 'failed', 'first reason'], ...failed]})) : null,
    ex.length ? details('excluded', `Not measured (${plural(ex.length, 'reason')})`, () => table({name: 'excluded-table', title: 'Not measured', rows: [['environment', 'kind', 'reason', 'what would help'], ...ex]})) : null,
    re.length ? details('remarks', `Remarks (${re.length})`, () => table({name: 'remarks-table', title: 'Remarks', rows: [['level', 'of', 'remark', 'advice'], ...re], first: false})) : null,
    m.data.shortened ? h('p', {class: 'note'}, m.data.shortened) : null);
}

export function verdict(m) {
  const v = list(m.data.verdict);
  return v.length ? section('verdict', 'Verdict', null, h('div', {class: 'verdict'}, v.map(s => h('p', null, s)))) : null;
}
