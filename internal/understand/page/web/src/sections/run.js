import {h, list, section, details} from '../dom.js';
import {plural} from '../numbers.js';
import {table} from '../table.js';

const marks = {good: ['✓', 'good'], warn: ['!', 'caution'], bad: ['✗', 'bad']};

// trust stands in a line or two, each remark with its text behind it. What speaks
// against the run is open.
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
    h('dl', {class: 'facts'}, list(m.data.facts).map(f => [h('dt', null, f.name), h('dd', null, f.value)])),
    h('h3', null, 'Can it be trusted?'),
    trust(m) ?? h('p', null, 'Nothing is known about that.'),
    failed.length ? details('failures', `Failures (${r.failed} of ${r.trials - r.warmup} trials)`, () => table({name: 'failures-table', title: 'Failures', rows: [['environment', 'workload', 'class', 'failed', 'first reason'], ...failed]})) : null,
    ex.length ? details('excluded', `Not measured (${plural(ex.length, 'reason')})`, () => table({name: 'excluded-table', title: 'Not measured', rows: [['environment', 'kind', 'reason', 'what would help'], ...ex]})) : null,
    re.length ? details('remarks', `Remarks (${re.length})`, () => table({name: 'remarks-table', title: 'Remarks', rows: [['level', 'of', 'remark', 'advice'], ...re], first: false})) : null,
    m.data.shortened ? h('p', {class: 'note'}, m.data.shortened) : null);
}
