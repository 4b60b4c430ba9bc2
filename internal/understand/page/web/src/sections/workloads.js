import {h, list, section, absent, choice, segments} from '../dom.js';
import {cost, estimate, percent, plural, short} from '../numbers.js';
import {controls} from '../controls.js';
import {diverging, ink, mix} from '../colors.js';
import {figure} from '../chart.js';
import {labels, middle} from '../rows.js';
import {forest} from './ranking.js';
import {showCell} from '../trials.js';
import {tip} from '../tip.js';
import {marks, notAsked, verdicts} from '../words.js';
import * as state from '../state.js';

// full is the overhead at which the scale has its last colour, as a logarithm:
// twice, or half, as slow.
const full = Math.log(2);

const tone = v => Math.log(cost(Math.min(0.999, v))) / full / 2 + 0.5;

// brief writes a factor where there is little room.
const brief = (v, room) => room < 34 ? (v < 10 && v >= 0.01 ? v.toPrecision(2) : short(Number(v.toPrecision(2)))) : room > 52 ? (v < 1000 && v >= 0.01 ? v.toPrecision(3) : short(v)) : v >= 0.1 && v < 10 ? v.toFixed(2) : short(Number(v.toPrecision(2)));

function heat(m, o) {
  const rows = list(o.rows).filter(r => m.works.some(w => w.id === r.workload)), shown = new Set(m.shown().map(e => e.id));
  const filled = new Set([...rows, ...list(o.suites)].flatMap(r => list(r.cells).filter(c => c.overhead).map(c => c.env)));
  const ids = list(o.environments).filter(id => shown.has(id) && filled.has(id));
  const suites = list(o.suites).map(s => ({title: s.name === 'all' ? 'geometric mean of all' : `geometric mean: ${s.name}`, cells: s.cells, suite: true}));
  const lines = [...rows.map(r => ({title: r.title || r.workload, cells: r.cells, row: r})), ...suites].map(l => ({...l, by: new Map(list(l.cells).map(c => [c.env, c]))})).filter(l => ids.some(id => l.by.get(id)?.overhead));
  const cells = lines.flatMap((l, y) => ids.map((id, x) => ({x, y, l, id, c: l.by.get(id)}))).filter(x => x.c?.overhead || x.c?.missing && x.c.missing !== notAsked);
  const known = cells.filter(x => x.c.overhead), without = rows.filter(r => !lines.some(l => l.row === r));
  const worst = [...known].sort((a, b) => b.c.overhead.value - a.c.overhead.value)[0];
  return {ids, lines, without, spec: {
    name: 'heat', title: `How many times worse than ${o.baseline}, by each workload’s first metric`,
    describe: () => known.length ? `${plural(ids.length, 'environment')} and ${plural(rows.length, 'workload')}; how many times worse. Most: ${m.nameOf(worst.id)} with ${worst.l.title}, ${short(cost(worst.c.overhead.value))} times.` : 'No value.',
    height: () => lines.length * 28 + 118,
    click: p => { const x = cells[p.dataIndex]; if (x && !x.l.suite) showCell(m, m.works.find(w => w.id === x.l.row.workload), m.byID.get(x.id)); },
    table: () => [['workload', ...ids.map(id => ({t: m.nameOf(id), num: true}))], ...lines.map(l => [l.title, ...ids.map(id => {
      const c = l.by.get(id);
      return {t: c?.overhead ? `${short(cost(c.overhead.value))}${marks[c.verdict] ?? ''}` : c?.missing && c.missing !== notAsked ? 'n/a' : '–', v: c?.overhead ? cost(c.overhead.value) : '', num: true, title: c?.missing};
    })])],
    option(t) {
      const l = labels(lines.map(x => x.title), t), colors = diverging(t.dark), slant = (t.width - l.left - 24) / Math.max(1, ids.length) < 100, right = slant ? 84 : 24, room = (t.width - l.left - right) / Math.max(1, ids.length);
      return {
        grid: {left: l.left, right, top: slant ? 104 : 34, bottom: 10},
        xAxis: {type: 'category', position: 'top', data: ids.map(id => m.nameOf(id)), triggerEvent: true, axisTick: {show: false}, splitLine: {show: false}, axisLabel: {rotate: slant ? -45 : 0, formatter: v => middle(v, slant ? 19 : Math.floor(room / 6.8)), fontSize: 12, interval: slant ? Math.ceil(18 / room) - 1 : 0}},
        yAxis: l.axis,
        tooltip: {formatter: p => {
          const x = cells[p.dataIndex];
          if (x && !x.c.overhead) return tip(`${m.nameOf(x.id)}: ${x.l.title}`, [['n/a', x.c.missing]]);
          const f = x && estimate(cost(x.c.overhead.value), x.c.overhead.lo == null ? null : cost(x.c.overhead.lo), x.c.overhead.hi == null ? null : cost(x.c.overhead.hi), {by: 1});
          return x && tip(`${m.nameOf(x.id)}: ${x.l.title}`, [['times worse', `${f.value} ${f.interval}`], ['speed lost', `${percent(x.c.overhead.value)}`], ['metric', x.l.row?.metric.title], ['verdict', verdicts[x.c.verdict]], ['blocks', x.c.blocks],
            ['failed', x.l.row ? m.failures(m.works.find(w => w.id === x.l.row.workload), m.byID.get(x.id)) : '']]);
        }},
        series: [{type: 'heatmap', cursor: 'pointer', data: cells.map(x => {
          if (!x.c.overhead) return {value: [x.x, x.y, 0], itemStyle: {color: t.panel, borderColor: t.back, borderWidth: 2}, label: {show: room > 25, color: t.muted, fontFamily: t.font, fontSize: 10, formatter: 'n/a'}};
          // What cannot be told is pale.
          const full = mix(colors, tone(x.c.overhead.value)), back = x.c.verdict === 'cannot-tell' ? mix([t.back, full], 0.35) : full;
          return {value: [x.x, x.y, x.c.overhead.value], itemStyle: {color: back, borderColor: t.back, borderWidth: 2}, label: {show: room > 25, color: ink(back), fontFamily: t.font, fontSize: room > 52 ? 12 : 10,
            formatter: brief(cost(x.c.overhead.value), room) + (room > 34 ? marks[x.c.verdict] ?? '' : '')}};
        })}],
      };
    },
  }};
}

export function workloads(m) {
  const has = m.works.filter(w => m.first(w));
  const maps = list(m.data.overheads).filter(o => list(o.rows).length);
  if (has.length < 2) return absent('Workloads side by side', 'this run has one workload; its chart is the ranking');
  const o = maps.find(x => x.baseline === state.get('base')) ?? maps[0], ht = o && heat(m, o), only = state.get('only');
  const drawn = only ? has.filter(w => w.id === only) : has.slice(0, 6);
  return section('workloads', 'Workloads', 'What each environment costs against the baseline, by each workload’s first metric: 2 is twice as slow, 0.5 twice as fast; orange is worse, blue is better; = is equal for practical purposes; what is pale, with ~, cannot be told from the baseline; n/a has no value, and says why under the mouse. Below, a chart for each workload.',
    controls(maps.length > 1 && ht?.ids.length ? segments('heat-base', 'Baseline', maps.map(x => [x.baseline, `against ${x.baseline}`]), o.baseline, v => state.set({base: v})) : null),
    ht && ht.ids.length ? figure(ht.spec) : h('p', {class: 'note'}, 'There is no heat map: no baseline has a value of these workloads’ first metrics.'),
    ht?.without.length ? h('p', {class: 'note'}, `Without a value of ${o.baseline}, so that nothing can be held against it: ${ht.without.map(r => r.title || r.workload).join(', ')}. Their own values are in the charts below.`) : null,
    controls(choice('works-only', 'Charts of', [['', has.length > 6 ? 'the first six workloads' : 'all workloads'], ...has.map(w => [w.id, w.title])], only ?? '', v => state.set({only: v || null}))),
    h('div', {class: 'multiples'}, drawn.map(w => { const t = m.first(w); return m.ranked(t).length ? figure(forest(m, w, t, null, `work-${w.i}`)) : null; })));
}
