import {h, list, section, absent, segments} from '../dom.js';
import {amount, digits, fixed, plural, quantile, scaleFor} from '../numbers.js';
import {controls, metricChoice, workChoice} from '../controls.js';
import {figure} from '../chart.js';
import {labels, rowHeight, scaleAxis} from '../rows.js';
import {showCell} from '../trials.js';
import {tip} from '../tip.js';
import {cellTip} from './ranking.js';
import * as state from '../state.js';

export const levels = [0, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.975, 0.99, 1];
const box = [0.025, 0.25, 0.5, 0.75, 0.975];

// boxOf is whiskers, quartiles and median of a distribution.
function boxOf(d) {
  if (list(d.quantiles).length === levels.length) return box.map(q => d.quantiles[levels.indexOf(q)]);
  const s = [...list(d.values)].sort((a, b) => a - b);
  return box.map(q => quantile(s, q));
}

// ecdf is the empirical distribution function: of all values where they are
// few, else through the quantiles.
export function ecdf(d, by) {
  const v = list(d.values);
  if (v.length && v.length <= 2000) return [...v].sort((a, b) => a - b).map((x, i) => [x / by, (i + 1) / v.length]);
  return list(d.quantiles).map((x, i) => [x / by, levels[i]]);
}

// jitter spreads points of a row, the same each time.
const jitter = i => ((i * 0.618033988749895) % 1 - 0.5) * 0.56;

function points(m, w, t, envs, scale, th) {
  return envs.map((e, row) => {
    const d = t.dist[e.i];
    return {type: 'scatter', name: e.name, yAxisIndex: 1, z: 2, cursor: 'pointer', large: list(d.values).length > 2000, symbolSize: list(d.values).length > 400 ? 3 : 5,
      symbol: 'circle', itemStyle: {color: m.look(e, th.dark).color, opacity: 0.6}, data: list(d.values).map((v, i) => [v / scale.by, row + jitter(i)])};
  });
}

export function distributions(m) {
  const w = m.work(), t = w && m.table(w);
  const has = e => { const d = t?.dist?.[e.i]; return d && (list(d.values).length || list(d.quantiles).length); };
  if (!t || !m.envs.some(has)) return absent('Distributions', 'no trial of this run has a value');
  const envs = m.ranked(t).filter(has), scale = scaleFor(t.metric.unit, t.median), kind = state.get('dist') ?? 'box', base = m.baseline(t);
  const num = v => fixed(v / scale.by, digits(v / scale.by, v / scale.by, v / scale.by)), name = t.metric.title || t.metric.id;
  const all = envs.flatMap(e => boxOf(t.dist[e.i])).concat(envs.flatMap(e => [list(t.dist[e.i].quantiles)[0], list(t.dist[e.i].quantiles).at(-1)])).filter(v => v != null).map(v => v / scale.by);
  const some = envs.flatMap(e => list(t.dist[e.i].values)).map(v => v / scale.by);
  const extent = all.concat(some.length ? [some.reduce((a, b) => Math.min(a, b)), some.reduce((a, b) => Math.max(a, b))] : []);
  const open = (e, k) => showCell(m, w, e, k == null ? undefined : list(t.dist[e.i].trial)[k]);
  const common = {
    name: 'distributions',
    table: () => [['environment', 'n', ...['2.5 %', '25 %', 'median', '75 %', '97.5 %'].map(x => ({t: `${x}, ${scale.unit}`, num: true}))],
      ...envs.map(e => [e.name, {t: t.n[e.i], num: true}, ...boxOf(t.dist[e.i]).map(v => ({t: num(v), v, num: true}))])],
    describe: () => envs.slice(0, 5).map(e => { const b = boxOf(t.dist[e.i]); return `${e.name}: median ${amount(b[2], t.metric.unit)}, middle half ${amount(b[1], t.metric.unit)} to ${amount(b[3], t.metric.unit)}, ${plural(t.n[e.i], 'value')}`; }).join('; ') + '.',
  };
  const rows = {
    ...common, title: `${w.title}: ${name}, every trial`,
    height: () => envs.length * Math.max(34, rowHeight(envs.length)) + 64,
    click: p => { if (p.seriesType === 'scatter') open(envs[p.seriesIndex - 1], p.dataIndex); else if (envs[p.dataIndex]) open(envs[p.dataIndex]); },
    option(th) {
      const l = labels(envs.map(e => e.name), th);
      return {
        grid: {left: l.left, right: 24, top: 10, bottom: 42},
        xAxis: scaleAxis(extent, scale.unit),
        yAxis: [l.axis, {type: 'value', min: -0.5, max: envs.length - 0.5, inverse: true, show: false}],
        tooltip: {formatter: p => p.seriesType === 'scatter'
          ? tip(envs[p.seriesIndex - 1].name, [[name, `${num(p.value[0] * scale.by)} ${scale.unit}`], ['trial', m.data.trials?.seq?.[t.dist[envs[p.seriesIndex - 1].i].trial?.[p.dataIndex]]]], 'Click for its row.')
          : envs[p.dataIndex] && cellTip(m, w, t, envs[p.dataIndex], base)},
        dataZoom: [{type: 'inside', xAxisIndex: 0, zoomOnMouseWheel: 'ctrl', moveOnMouseMove: false, filterMode: 'none'}],
        series: [
          {type: 'boxplot', z: 3, cursor: 'pointer', boxWidth: [10, 18], itemStyle: {color: 'transparent', borderColor: th.text, borderWidth: 1.2}, data: envs.map(e => ({value: boxOf(t.dist[e.i]).map(v => v / scale.by), itemStyle: {borderColor: list(t.dist[e.i].values).length ? th.text : m.look(e, th.dark).color}}))},
          ...points(m, w, t, envs, scale, th),
        ],
      };
    },
  };
  const curves = {
    ...common, title: `${w.title}: ${name}, distribution functions`, height: width => 400 + (width < 600 ? 40 : 0),
    click: p => { if (envs[p.seriesIndex]) open(envs[p.seriesIndex]); },
    option: th => ({
      grid: {left: 52, right: 24, top: 44, bottom: 42},
      legend: {top: 4, left: 0, right: 0},
      xAxis: scaleAxis(extent, scale.unit),
      yAxis: {type: 'value', min: 0, max: 1, name: 'share of trials', nameLocation: 'middle', nameGap: 38, axisLabel: {formatter: v => `${Math.round(100 * v)} %`}},
      tooltip: {formatter: p => envs[p.seriesIndex] && cellTip(m, w, t, envs[p.seriesIndex], base)},
      series: envs.map(e => ({type: 'line', step: list(t.dist[e.i].values).length ? 'end' : false, name: e.name, showSymbol: true, symbol: m.look(e, th.dark).symbol, symbolSize: 5, cursor: 'pointer', lineStyle: {width: 1.8},
        triggerLineEvent: true, emphasis: {focus: 'series'}, color: m.look(e, th.dark).color, data: ecdf(t.dist[e.i], scale.by)})),
    }),
  };
  return section('distributions', 'Distributions', 'Every trial is a point; the box holds the middle half with the median, the whiskers 95 %. A point opens its trial. With Ctrl, the mouse wheel zooms.',
    controls(workChoice(m, 'dist'), metricChoice(m, 'dist'), segments('dist-kind', 'Kind', [['box', 'Points and boxes'], ['ecdf', 'ECDF']], kind, v => state.set({dist: v === 'box' ? null : v}))),
    envs.length ? figure(kind === 'ecdf' ? curves : rows) : h('p', null, 'The filters leave no environment with a value.'),
    envs.some(e => !list(t.dist[e.i].values).length) ? h('p', {class: 'note'}, 'Where trials are too many to be drawn one by one, the boxes and curves are of all of them.') : null);
}
