import {h, list, section, absent, segments} from '../dom.js';
import {amount, estimate, factor, plural, scaleFor, fixed} from '../numbers.js';
import {controls, metricChoice, workChoice} from '../controls.js';
import {figure} from '../chart.js';
import {above, beside, labels, long, narrow, rowHeight, scaleAxis, share, spans} from '../rows.js';
import {better, marks, notAsked, times as timesTitle, verdicts} from '../words.js';
import {showCell} from '../trials.js';
import {table} from '../table.js';
import {tip} from '../tip.js';
import * as state from '../state.js';

const times = (v, lo, hi) => estimate(v, lo, hi, {by: 1});

// cellTip says of one environment what a table says.
export function cellTip(m, w, t, e, base) {
  const scale = scaleFor(t.metric.unit, [t.median[e.i]]), n = estimate(t.median[e.i], t.lo[e.i], t.hi[e.i], scale), a = m.against(t, base);
  const r = a && a.ratio[e.i] != null ? times(a.ratio[e.i], a.lo[e.i], a.hi[e.i]) : null;
  return tip(e.name, [
    ['n', `${t.n[e.i]} in ${plural(t.blocks[e.i], 'block')}`],
    ['median', `${n.value} ${scale.unit}`], ['95 % interval', n.interval], ['p95', t.p95?.[e.i] != null ? amount(t.p95[e.i], t.metric.unit) : ''],
    [`against ${base}`, r && `${r.value} × ${r.interval}`], ['verdict', a && verdicts[a.verdict?.[e.i]]],
    ['failed', m.failures(w, e)],
  ], 'Click for the trials.');
}

// forest draws medians, or ratios to a baseline, with their intervals.
export function forest(m, w, t, base, name, title) {
  const envs = m.ranked(t), a = base && m.against(t, base);
  const scale = a ? {unit: '×', by: 1} : scaleFor(t.metric.unit, t.median);
  const of = (k, e) => (a ? {v: a.ratio, lo: a.lo, hi: a.hi} : {v: t.median, lo: t.lo, hi: t.hi})[k]?.[e.i];
  const rows = envs.filter(e => of('v', e) != null);
  const at = e => ({v: of('v', e) / scale.by, lo: of('lo', e) == null ? null : of('lo', e) / scale.by, hi: of('hi', e) == null ? null : of('hi', e) / scale.by});
  const first = rows[0], last = rows.at(-1), text = e => { const x = at(e), n = times(x.v, x.lo, x.hi); return `${e.name} ${n.value} ${scale.unit} ${n.interval}`.trim(); };
  return {
    name, title: title ?? `${w.title}: ${t.metric.title || t.metric.id}${a ? ` against ${base}` : ''}`,
    describe: () => rows.length ? `${plural(rows.length, 'environment')}, ${better(t.metric)}, medians with 95 % intervals. First ${text(first)}${last !== first ? `; last ${text(last)}` : ''}.` : 'No value.',
    note: m.data.answer?.legend,
    height: width => rows.length * rowHeight(rows.length, width || 800) + (long(rows.length) ? 72 : 64),
    click: p => { const e = rows[p.dataIndex] ?? rows.find(x => x.id === p.value); if (e) showCell(m, w, e); },
    table: () => [['environment', 'median', 'low', 'high', 'unit', 'n', 'blocks', 'failed'], ...rows.map(e => {
      const x = at(e), n = times(x.v, x.lo, x.hi);
      return [e.name, {t: n.value, v: of('v', e), num: true}, {t: x.lo == null ? '' : fixed(x.lo, n.value.split('.')[1]?.length ?? 0), v: of('lo', e) ?? '', num: true},
        {t: x.hi == null ? '' : fixed(x.hi, n.value.split('.')[1]?.length ?? 0), v: of('hi', e) ?? '', num: true}, {t: scale.unit, v: a ? 'ratio' : t.metric.unit}, {t: t.n[e.i], num: true}, {t: t.blocks[e.i], num: true}, {t: m.failures(w, e), num: true}];
    })],
    option(th) {
      const names = rows.map(e => e.id), l = narrow(th.width) ? above(names, th) : labels(names, th), pts = rows.map(at), texts = pts.map(x => times(x.v, x.lo, x.hi).value);
      const lines = a ? [{xAxis: 1, name: base}] : m.baselines(t).map(b => m.envs.find(e => e.baseline === b)).filter(e => e && rows.includes(e)).map(e => ({xAxis: at(e).v, name: e.name})).slice(0, 2).sort((x, y) => x.xAxis - y.xAxis);
      // Two names keep out of each other's way.
      if (lines.length === 2) lines.forEach((x, i) => { x.label = {align: i ? 'left' : 'right', padding: i ? [0, 0, 0, 3] : [0, 3, 0, 0]}; });
      const x = scaleAxis(pts.flatMap(p => [p.v, p.lo, p.hi]).filter(v => v != null), `${a ? `times ${base}` : scale.unit || t.metric.title || t.metric.id}, ${better(t.metric)}`);
      const two = long(rows.length); // who sees the first rows sees an axis
      return {
        grid: {left: l.left, right: Math.max(two ? 46 : 24, beside(texts)), top: two ? 30 : 22, bottom: 42},
        xAxis: two ? [x, {...x, position: 'top', name: a ? '×' : scale.unit, nameLocation: 'end', nameGap: 16, splitLine: {show: false}}] : x,
        yAxis: l.axis,
        tooltip: {formatter: p => p.componentType === 'series' && rows[p.dataIndex] ? cellTip(m, w, t, rows[p.dataIndex], a ? base : m.baseline(t)) : undefined},
        series: [
          spans(rows.map((e, row) => ({row, text: texts[row], at: pts[row].v, note: marked(m, t, e), far: share(x, pts[row].hi ?? pts[row].v) > 0.5, bare: pts[row].lo == null || pts[row].hi == null, lo: pts[row].lo ?? pts[row].v, hi: pts[row].hi ?? pts[row].v, color: m.look(e, th.dark).color})), th),
          {type: 'scatter', z: 3, symbolSize: 10, cursor: 'pointer',
            data: rows.map((e, i) => ({value: [pts[i].v, i], symbol: m.look(e, th.dark).symbol, itemStyle: {color: m.look(e, th.dark).color, borderColor: th.back, borderWidth: 1}})),
            markLine: {silent: true, z: 0, symbol: 'none', lineStyle: {color: th.muted, type: 'dashed', width: 1}, label: {show: !two && !narrow(th.width), color: th.muted, fontFamily: th.font, fontSize: 11, formatter: '{b}', position: 'start', distance: 4}, data: lines}},
        ],
      };
    },
  };
}

// marked is what a row is marked with, in words: the places that it may hold, and what
// speaks against it.
function marked(m, t, e) {
  const {lacks, typed} = m.marks(e), rank = place(t.places?.[e.i]);
  return [rank && `rank ${rank}`, typed && `= ${typed}`, lacks && `lacks ${lacks}`].filter(Boolean).join(', ');
}

// lacked is what stands in the column of what each lacks: a baseline is no container, and
// an empty cell would say that it lacks nothing.
const lacked = (m, e) => e.baseline ? 'n/a' : m.marks(e).lacks ?? '';

// rankingTable is all numbers of a table, those without a value at the end with
// the reason.
export function rankingTable(m, w, t) {
  const scale = scaleFor(t.metric.unit, t.median), bases = m.baselines(t), shown = m.shown(), ranked = m.ranked(t, shown);
  const rest = shown.filter(e => !ranked.includes(e) && t.missing?.[e.i] !== notAsked && (m.count(w, e)?.trials || t.missing?.[e.i]));
  const lacking = Number(ranked.some(e => m.marks(e).lacks));
  const num = (text, v, cls, title) => ({t: text, v: v ?? '', num: true, cls, title});
  const name = e => ({el: envButton(m, w, e), v: e.id});
  const failed = e => num(m.count(w, e)?.failed ?? '', m.count(w, e)?.failed, m.count(w, e)?.failed ? 'bad' : '');
  // Who cannot be told from the first may hold its place.
  const best = list(t.ranking).find(i => t.places?.[i]), open = e => [...t.group?.[best] ?? ''].some(letter => t.group?.[e.i]?.includes(letter));
  const first = e => { const p = t.places?.[e.i], v = t.times?.[e.i], same = p && open(e); return v == null ? num(p ? '1' : '', p ? 1 : '') : num(`${factor(v)}${same ? ' ~' : ''}`, v, same ? 'quiet' : '', same ? 'cannot be told from the first' : null); };
  const ratio = (e, b) => {
    const a = m.against(t, b), r = times(a.ratio[e.i], a.lo[e.i], a.hi[e.i]), v = a.verdict?.[e.i];
    return e.baseline === b ? [num('1', 1, 'quiet'), num('')] : [num(r.value + (r.value && (marks[v] ?? '')), a.ratio[e.i], '', [verdicts[v], a.needed?.[e.i] && `about ${a.needed[e.i]} blocks would tell`].filter(Boolean).join(': ')), num(r.interval, '', 'quiet')];
  };
  const head = ['environment', num(`median${scale.unit ? `, ${scale.unit}` : ''}`), num('95 %'), num(timesTitle(t.metric), '', '', 'how many times worse than the first: the median of the ratios block by block'), num('rank', '', '', 'the places that it may hold, together with 95 %'), ...(lacking ? [{t: 'lacks', title: m.data.answer.legend}] : []), num('n'), num('failed'), ...bases.flatMap(b => [num(`× ${b}`), num('95 %')])];
  const rows = ranked.map(e => {
    const n = estimate(t.median[e.i], t.lo[e.i], t.hi[e.i], scale);
    return [name(e), num(n.value, t.median[e.i]), num(n.interval, '', 'quiet'), first(e), num(place(t.places?.[e.i])), ...(lacking ? [lacked(m, e)] : []), num(t.n[e.i] ?? 0, t.n[e.i]), failed(e), ...bases.flatMap(b => ratio(e, b))];
  });
  const without = rest.map(e => [name(e), {t: `n/a: ${t.missing?.[e.i] || m.count(w, e)?.missing || 'no value'}`, cls: 'quiet', span: 6 + lacking + 2 * bases.length}]);
  return table({name: 'rankings', title: `${w.title}: ${t.metric.title || t.metric.id}`, rows: [head, ...rows, ...without], file: fileRows(m, w, t, [...ranked, ...rest]), cls: 'ranking'});
}

// place is a range of places.
const place = p => !p ? '' : p.first === p.last ? String(p.first) : `${p.first}–${p.last}`;

// fileRows are the numbers of a table, unrounded.
function fileRows(m, w, t, envs) {
  const bases = m.baselines(t);
  return [['workload', 'metric', 'unit', 'environment', 'rank', 'lacks', 'n', 'blocks', 'failed', 'trials', 'median', 'lo', 'hi', 'p95', ...bases.flatMap(b => [`ratio_${b}`, `ratio_${b}_lo`, `ratio_${b}_hi`, `verdict_${b}`]), 'missing'],
    ...envs.map(e => [w.id, t.metric.id, t.metric.unit, e.id, place(t.places?.[e.i]), m.marks(e).lacks, t.n[e.i], t.blocks?.[e.i], m.count(w, e)?.failed, m.count(w, e)?.trials, t.median[e.i], t.lo[e.i], t.hi[e.i], t.p95?.[e.i],
      ...bases.flatMap(b => { const a = m.against(t, b); return [a.ratio[e.i], a.lo[e.i], a.hi[e.i], a.verdict?.[e.i]]; }), t.missing?.[e.i]])];
}

export function envButton(m, w, e) {
  return h('button', {type: 'button', class: 'env', title: `${e.name}: show the trials`, id: `trials-${w.i}-${e.i}`, onclick: () => showCell(m, w, e)}, e.id);
}

// rankingChart is the chart of a table, with what a reader may choose.
export function rankingChart(m) {
  const w = m.work(), t = w && m.table(w);
  if (!t) return null;
  const bases = m.baselines(t), view = state.get('view') === 'ratio' && bases.length ? 'ratio' : 'absolute', base = m.baseline(t);
  return [m.ranked(t).length ? figure(forest(m, w, t, view === 'ratio' ? base : null, 'ranking')) : h('p', null, 'The filters leave no environment with a value.'),
    controls(workChoice(m, 'ranking'), metricChoice(m, 'ranking'),
      bases.length ? segments('ranking-view', 'Scale', [['absolute', 'Absolute'], ...bases.map(b => [b, `× ${b}`])], view === 'ratio' ? base : 'absolute',
        v => state.set(v === 'absolute' ? {view: null} : {view: 'ratio', base: v})) : null),
    h('p', {class: 'note', role: 'status'}, m.filtered()),
    h('p', {class: 'note'}, `Points are medians, lines their 95 % intervals${bases.length ? '' : m.envs.some(e => e.baseline) ? '. There are no ratios: no baseline has a value of this metric' : '. There are no ratios: no baseline ran. A study with the environments native and floor has them'}.`)];
}

export function ranking(m) {
  const w = m.work(), t = w && m.table(w);
  if (!t) return absent('Ranking', 'no trial of this run has a value');
  const what = `${t.metric.title || t.metric.id}: ${t.metric.what ? `${t.metric.what.replace(/\.$/, '')}; ` : ''}`;
  return section('ranking', 'Ranking', `${what}${better(t.metric)}. Rank is the range of places that an environment may hold, all together with 95 %; ${timesTitle(t.metric)} is the median of the ratios block by block, each block having each environment once in random order; ~ cannot be told from the first.`,
    m.data.answer && !list(m.data.answer.works).length ? null : rankingChart(m),
    rankingTable(m, w, t),
    h('p', {class: 'note'}, list(t.against).length ? `A ratio to a baseline differs where its interval lies outside ± ${Number((100 * m.data.run.delta).toPrecision(2))} % and the test agrees after Holm’s correction; = is equal, its interval lies inside; ~ cannot be told.` : '', t.test ? ` The test behind the ranks is ${t.test}.` : ''));
}
