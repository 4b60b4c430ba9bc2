import {h, list, section, absent} from '../dom.js';
import {amount, fixed, median, plural, short} from '../numbers.js';
import {controls, metricChoice, workChoice} from '../controls.js';
import {figure} from '../chart.js';
import {scaleAxis} from '../rows.js';
import {show, showCell} from '../trials.js';
import {tip} from '../tip.js';

// order draws each trial in the order in which they ran, as a ratio to its
// environment's median, so that what falls on all alike is seen.
export function order(m) {
  const w = m.work(), t = w && m.table(w), trials = m.data.trials ?? {};
  const cells = t ? m.ranked(t).map(e => ({e, d: t.dist?.[e.i], mid: t.median[e.i]})).filter(c => list(c.d?.trial).length && c.mid > 0) : [];
  if (!t || !cells.length) {
    if (t && m.envs.some(e => list(t.dist?.[e.i]?.trial).length)) return section('order', 'Run order', null, h('p', null, 'The filters leave no environment with a value.'));
    return absent('Run order', m.data.shortened || 'the trials of this metric are not listed one by one');
  }
  const x = k => trials.seq[k], name = 'trial';
  const blocks = new Map();
  for (const c of cells) c.d.trial.forEach((k, i) => {
    const b = blocks.get(trials.block[k]) ?? {x: [], y: []};
    b.x.push(x(k));
    b.y.push(c.d.values[i] / c.mid);
    blocks.set(trials.block[k], b);
  });
  const drift = [...blocks].sort((a, b) => a[0] - b[0]).map(([block, b]) => ({block, x: median(b.x), y: median(b.y)}));
  const here = new Set(cells.map(c => c.e.i)), failed = [];
  list(trials.class).forEach((cls, k) => { if (cls && trials.work[k] === w.i && here.has(trials.env[k])) failed.push(k); });
  const values = cells.flatMap(c => c.d.values.map(v => v / c.mid));
  const low = drift.reduce((a, b) => b.y < a.y ? b : a, drift[0]), high = drift.reduce((a, b) => b.y > a.y ? b : a, drift[0]);
  const bottom = values.reduce((a, b) => Math.min(a, b), Infinity);
  const places = cells.flatMap(c => c.d.trial), first = x(places.reduce((a, k) => Math.min(a, k))), last = x(places.reduce((a, k) => Math.max(a, k)));
  const spec = {
    name: 'order', title: `${w.title}: ${t.metric.title || t.metric.id} in the order of the trials`,
    height: width => 380 + (width < 600 ? 40 : 0),
    describe: () => `${plural(values.length, 'trial')} in ${plural(drift.length, 'block')}, each over its environment's median. Medians of the blocks lie between ${fixed(low.y, 3)} (block ${low.block}) and ${fixed(high.y, 3)} (block ${high.block}); ${failed.length} failed.`,
    click: p => { const c = cells[p.seriesIndex]; if (c) showCell(m, w, c.e, c.d.trial[p.dataIndex]); else if (p.seriesName === 'failed') showCell(m, w, m.envs[trials.env[failed[p.dataIndex]]], failed[p.dataIndex]); },
    brush(p) {
      const range = p.areas?.[0]?.coordRange;
      if (!range) return;
      const chosen = places.concat(failed).filter(k => x(k) >= range[0] && x(k) <= range[1]).sort((a, b) => trials.seq[a] - trials.seq[b]);
      show(m, w, chosen, `${w.title}: trials ${Math.ceil(range[0])} to ${Math.floor(range[1])}`);
    },
    drawn: at => { spec.instance = at; },
    table: () => [['block', name, {t: 'median of value / median of its environment', num: true}], ...drift.map(d => [d.block, {t: short(d.x), v: d.x, num: true}, {t: fixed(d.y, 4), v: d.y, num: true}])],
    option: th => ({
      grid: {left: 58, right: 24, top: 44, bottom: 42},
      legend: {top: 4, left: 0, right: 0},
      brush: {toolbox: [], xAxisIndex: 0, brushType: 'lineX', brushMode: 'single', outOfBrush: {colorAlpha: 0.3}, transformable: false},
      xAxis: {type: 'value', name: 'trial of the run', nameLocation: 'middle', nameGap: 28, min: first, max: last, axisLabel: {formatter: v => String(Math.round(v)), hideOverlap: true}},
      yAxis: scaleAxis(values, '× own median', {nameGap: 42}),
      tooltip: {formatter: p => {
        const c = cells[p.seriesIndex];
        if (p.seriesName === 'failed') { const k = failed[p.dataIndex]; return tip(`${m.envs[trials.env[k]].name}: failed`, [['trial', trials.seq[k]], ['class', trials.class[k]]], list(trials.text)[k]); }
        if (!c) return drift[p.dataIndex] && tip(`Block ${drift[p.dataIndex].block}`, [['median of all', `${fixed(drift[p.dataIndex].y, 3)} ×`]]);
        const k = c.d.trial[p.dataIndex];
        return tip(c.e.name, [[t.metric.title || t.metric.id, amount(c.d.values[p.dataIndex], t.metric.unit)], ['over own median', `${short(p.value[1])} ×`], ['trial', trials.seq[k]], ['block', trials.block[k]], ['at', `${(list(trials.at)[k] / 1000).toFixed(1)} s`]], 'Click for its row.');
      }},
      series: [
        ...cells.map(c => ({type: 'scatter', name: c.e.name, symbol: m.look(c.e, th.dark).symbol, symbolSize: values.length > 2000 ? 3 : 6, large: values.length > 10000, cursor: 'pointer',
          itemStyle: {color: m.look(c.e, th.dark).color, opacity: 0.65}, data: c.d.trial.map((k, i) => [x(k), c.d.values[i] / c.mid])})),
        {type: 'line', name: 'median of the block', color: th.text, symbol: 'none', lineStyle: {width: 2}, z: 5, data: drift.map(d => [d.x, d.y])},
        ...(failed.length ? [{type: 'scatter', name: 'failed', symbol: 'path://M2 0L5 3L8 0L10 2L7 5L10 8L8 10L5 7L2 10L0 8L3 5L0 2Z', symbolSize: 9, color: th.text, z: 4, data: failed.map(k => [x(k), bottom])}] : []),
      ],
    }),
  };
  const select = h('button', {id: 'order-brush', type: 'button', onclick: () => spec.instance?.dispatchAction({type: 'takeGlobalCursor', key: 'brush', brushOption: {brushType: 'lineX', brushMode: 'single'}})}, 'Select trials');
  return section('order', 'Run order', 'Every trial over its environment’s own median, in the order in which they ran. Order is random inside each block, so that a drift of the machine falls on all alike: the line is the median of each block.',
    controls(workChoice(m, 'order'), metricChoice(m, 'order'), select), figure(spec));
}
