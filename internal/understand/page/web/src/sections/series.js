import {h, list, section, absent, choice} from '../dom.js';
import {amount, plural, scaleFor, short} from '../numbers.js';
import {controls} from '../controls.js';
import {figure} from '../chart.js';
import {table} from '../table.js';
import {linear} from '../rows.js';
import {tip} from '../tip.js';
import * as state from '../state.js';

// band is the area between the quartiles of a curve. It has the curve's name, so
// that the legend takes both away.
function band(c, color, by) {
  const at = c.x.map((_, i) => i).filter(i => c.lo[i] != null && c.hi[i] != null);
  return {
    type: 'custom', name: c.env.name, silent: true, clip: true, z: 1, color, encode: {x: 0, y: [1, 2]}, data: at.map(i => [c.x[i], c.lo[i] / by, c.hi[i] / by]),
    renderItem: (params, api) => params.dataIndexInside > 0 ? null : {
      type: 'polygon', style: {fill: color, opacity: 0.15},
      shape: {points: [...at.map(i => api.coord([c.x[i], c.hi[i] / by])), ...at.toReversed().map(i => api.coord([c.x[i], c.lo[i] / by]))]},
    },
  };
}

// lines is a chart of curves over a number.
function lines(m, {name, title, x, unit, curves, describe}) {
  const scale = scaleFor(unit, curves.flatMap(c => c.y)), label = scale.unit;
  const ys = curves.flatMap(c => c.y).filter(y => y != null), low = ys.reduce((a, b) => Math.min(a, b), Infinity), high = ys.reduce((a, b) => Math.max(a, b), -Infinity);
  const {min, max, interval, formatter} = linear((low > high / 2 ? low : Math.min(0, low)) / scale.by, high / scale.by);
  return {
    name, title, describe, height: width => 340 + (width < 600 ? 40 : 0),
    table: () => [['environment', x, label], ...curves.flatMap(c => c.x.map((v, i) => [c.env.name, {t: short(v), v, num: true}, {t: short((c.y[i] ?? 0) / scale.by), v: c.y[i] ?? '', num: true}]))],
    option: t => ({
      grid: {left: 64, right: 24, top: 44, bottom: 42},
      legend: {top: 4, left: 0, right: 0, data: [...new Set(curves.map(c => c.env.name))]},
      xAxis: {type: 'value', name: x, nameLocation: 'middle', nameGap: 28, axisLabel: {formatter: short, hideOverlap: true}, scale: true},
      yAxis: {type: 'value', name: label, nameLocation: 'middle', nameGap: 46, min, max, interval, axisLabel: {formatter: formatter ?? short}},
      tooltip: {trigger: 'axis', formatter: ps => tip(`${x} ${short(ps[0].value[0])}`, ps.filter(p => p.seriesType === 'line').map(p => [p.seriesName, `${short(p.value[1])} ${label}`]))},
      dataZoom: [{type: 'inside', zoomOnMouseWheel: 'ctrl', moveOnMouseMove: false, filterMode: 'none'}],
      series: curves.flatMap(c => {
        const look = m.look(c.env, t.dark), pts = y => c.x.map((v, i) => [v, y[i] == null ? null : y[i] / scale.by]);
        const line = {type: 'line', name: c.env.name, color: look.color, symbol: look.symbol, symbolSize: 6, showSymbol: c.x.length <= 60, lineStyle: {width: 1.8, type: c.dashed ? 'dashed' : 'solid'}, emphasis: {focus: 'series'}, data: pts(c.y)};
        if (!list(c.hi).length || !list(c.lo).length || curves.length > 12) return [line];
        return [band(c, look.color, scale.by), line];
      }),
    }),
  };
}

const nameOf = c => { const t = c.title || c.column; return c.part && !t.includes(c.part) ? `${t} (${c.part})` : t; };
const peak = c => list(c.v).reduce((a, v) => Math.max(a, v), -Infinity);

function curves(m, w, shown) {
  const all = list(w.curves).filter(c => shown.has(c.env));
  if (!all.length) return null;
  const key = c => `${c.part}/${c.column}`, kinds = [...new Map(all.map(c => [key(c), c])).values()];
  const on = kinds.find(c => key(c) === state.get('curve')) ?? kinds[0], of = all.filter(c => key(c) === key(on));
  const found = of.map(c => ({env: m.envs[c.env], x: list(c.t), y: list(c.v), lo: c.lo, hi: c.hi, trials: c.trials}));
  return [controls(choice('curve', 'Series', kinds.map(c => [key(c), nameOf(c)]), key(on), v => state.set({curve: v}))),
    figure(lines(m, {name: `series-${w.i}`, title: `${w.title}: ${nameOf(on)}`, x: 'seconds after the request', unit: on.unit, curves: found,
      describe: () => `Medians over trials with quartiles. Peaks: ${of.slice(0, 6).map(c => `${m.envs[c.env].name} ${amount(peak(c), c.unit)} (${plural(c.trials, 'trial')})`).join(', ')}.`}))];
}

function density(m, w, shown) {
  const cells = list(w.density).map(c => ({...c, at: m.byID.get(c.env)})).filter(c => c.at && shown.has(c.at.i));
  if (!cells.length) return null;
  const last = p => p.y.at(-1), parts = ['host', 'payload', 'monitor', 'daemon', 'kernel'].filter(p => cells.some(c => c.memory?.[p]));
  const part = parts.includes(state.get('part')) ? state.get('part') : parts[0];
  const of = get => cells.filter(get).map(c => ({env: c.at, x: list(get(c).n), y: list(get(c).y)}));
  const out = [h('h3', null, `${w.title}: many containers at once`),
    table({name: `density-${w.i}`, title: `${w.title}: how many ran`, rows: [['environment', 'ramps', 'asked', 'reached', 'what ended it', 'one more container takes'],
      ...cells.map(c => { const f = list(c.slopes).find(s => s.metric === 'footprint'); return [c.at.name, {t: c.ramps, num: true}, {t: c.asked ?? '', num: true}, {t: c.reached, num: true}, list(c.limits).map(l => l.text || l.class).join('; ') || 'nothing', {t: f ? amount(f.value, 'bytes') : '', v: f?.value ?? '', num: true}]; })]})];
  if (part) {
    out.push(controls(choice('density-part', 'Memory of', parts.map(p => [p, p]), part, v => state.set({part: v}))),
      figure(lines(m, {name: `density-memory-${w.i}`, title: `${w.title}: memory of ${part} over the number of containers`, x: 'containers', unit: 'bytes', curves: of(c => c.memory?.[part]),
        describe: () => cells.filter(c => c.memory?.[part]).map(c => `${c.at.name}: ${amount(last(c.memory[part]), 'bytes')} with ${list(c.memory[part].n).at(-1)} containers`).join('; ') + '.'})));
  }
  if (cells.some(c => c.starts)) out.push(figure(lines(m, {name: `density-starts-${w.i}`, title: `${w.title}: start-up over the number of containers`, x: 'containers', unit: 'ns', curves: of(c => c.starts),
    describe: () => cells.filter(c => c.starts).map(c => `${c.at.name}: ${amount(list(c.starts.y)[0], 'ns')} first, ${amount(last(c.starts), 'ns')} last`).join('; ') + '.'})));
  return out;
}

function load(m, w, shown) {
  const cells = list(w.load).map(c => ({...c, at: m.byID.get(c.env)})).filter(c => c.at && shown.has(c.at.i));
  if (!cells.length) return null;
  const q = (c, n) => { const x = list(c.latency).find(l => l.name === n); return {t: x ? amount(x.value, 'ns') : '', v: x?.value ?? '', num: true}; };
  const rate = v => ({t: v ? short(v) : '', v: v || '', num: true}), queues = cells.filter(c => c.queue);
  return [h('h3', null, `${w.title}: rate of arrivals`),
    table({name: `load-${w.i}`, title: `${w.title}: load`, rows: [['environment', 'offered, 1/s', 'achieved, 1/s', 'holds at, 1/s', 'fails at, 1/s', 'p50', 'p95', 'p99', 'done', 'failed', 'refused', 'longest queue'],
      ...cells.map(c => [c.at.name, rate(c.offered), rate(c.achieved), rate(c.holds), rate(c.fails), q(c, 'p50'), q(c, 'p95'), q(c, 'p99'), {t: c.done, num: true}, {t: c.failed, num: true}, {t: c.refused, num: true}, {t: c.max_in_flight, num: true}])]}),
    queues.length ? figure(lines(m, {name: `load-queue-${w.i}`, title: `${w.title}: containers in flight`, x: 'seconds', unit: 'containers', curves: queues.map(c => ({env: c.at, x: list(c.queue.seconds), y: list(c.queue.in_flight)})),
      describe: () => queues.map(c => `${c.at.name}: at most ${c.max_in_flight}`).join('; ') + '.'})) : null];
}

export function series(m) {
  const has = m.works.filter(w => list(w.curves).length || list(w.density).length || list(w.load).length);
  if (!has.length) return absent('Time series and density', 'nothing was sampled in this run; the studies density and load, and workloads that last longer than a moment, have such curves');
  const w = has.find(x => x.id === state.get('sampled')) ?? (has.includes(m.work()) ? m.work() : has[0]), shown = new Set(m.shown().map(e => e.i));
  const parts = [curves(m, w, shown), density(m, w, shown), load(m, w, shown)];
  return section('series', 'Over time, and many at once', 'What environments used over time: medians over the trials at each moment after the request, with their quartiles; and how memory and start-up grow with the number of containers.',
    controls(has.length > 1 ? choice('sampled', 'Workload', has.map(x => [x.id, x.title]), w.id, v => state.set({sampled: v, curve: null})) : null),
    parts.some(Boolean) ? parts : h('p', null, 'The filters leave no environment with a series.'));
}
