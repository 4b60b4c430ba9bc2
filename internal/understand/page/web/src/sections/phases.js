import {h, list, section, absent} from '../dom.js';
import {amount, fixed, digits, scaleFor, short} from '../numbers.js';
import {controls, workChoice} from '../controls.js';
import {figure} from '../chart.js';
import {legendLine, legendLines} from '../options.js';
import {labels, rowHeight} from '../rows.js';
import {showCell} from '../trials.js';
import {steps} from '../colors.js';
import {tip} from '../tip.js';

export function phases(m) {
  const has = m.works.filter(w => w.phases && list(w.phases.steps).length);
  const w = has.includes(m.work()) ? m.work() : has[0];
  if (!w) return absent('Phases', 'no workload of this run has the events of a life cycle');
  const p = w.phases, medians = e => list(p.medians?.[e.i]), sum = e => medians(e).reduce((a, v) => a + Math.max(0, v ?? 0), 0);
  const envs = m.shown().filter(e => sum(e) > 0).sort((a, b) => sum(a) - sum(b));
  const scale = scaleFor('ns', envs.map(sum)), used = p.steps.map((s, k) => ({...s, k})).filter(s => envs.some(e => medians(e)[s.k] != null));
  const most = Math.max(...envs.map(sum)), without = m.shown().filter(e => !envs.includes(e) && m.count(w, e)?.trials);
  const num = v => v == null ? '' : fixed(v / scale.by, digits(v / scale.by, v / scale.by, v / scale.by));
  // All names are in sight: a picture has no pages to turn.
  const extra = width => legendLine * (legendLines(used.map(s => s.title), width) - 1);
  const spec = {
    name: 'phases', title: `${w.title}: from request to removed`,
    describe: () => envs.length ? `Medians of consecutive phases, stacked. ${envs.slice(0, 3).map(e => `${e.name}: ${used.filter(s => medians(e)[s.k] != null).map(s => `${s.title} ${amount(medians(e)[s.k], 'ns')}`).join(', ')}`).join('; ')}.` : 'No value.',
    height: width => envs.length * rowHeight(envs.length) + 76 + extra(width || 800) + (width < 600 ? 20 : 0),
    click: x => { const e = envs[x.dataIndex]; if (e) showCell(m, w, e); },
    table: () => [['environment', ...used.map(s => ({t: `${s.title}, ${scale.unit}`, num: true, title: `${s.from} → ${s.to}`})), `sum, ${scale.unit}`],
      ...envs.map(e => [e.name, ...used.map(s => ({t: num(medians(e)[s.k]), v: medians(e)[s.k] ?? '', num: true})), {t: num(sum(e)), v: sum(e), num: true}])],
    option(t) {
      const l = labels(envs.map(e => e.name), t), colors = steps(p.steps.length, t.dark);
      return {
        grid: {left: l.left, right: 24, top: 40 + extra(t.width), bottom: 42},
        legend: {type: 'plain', top: 4, left: 0, right: 0},
        xAxis: {type: 'value', name: scale.unit, nameLocation: 'middle', nameGap: 28, axisLabel: {formatter: short, hideOverlap: true}},
        yAxis: l.axis,
        tooltip: {formatter: x => tip(`${envs[x.dataIndex].name}: ${x.seriesName}`, [['median', amount(x.data.ns, 'ns')], ['from', used[x.seriesIndex].from], ['to', used[x.seriesIndex].to],
          ['share', `${(100 * x.data.ns / sum(envs[x.dataIndex])).toFixed(0)} %`], ['failed', m.failures(w, envs[x.dataIndex])]])},
        series: used.map(s => ({
          type: 'bar', stack: 'all', name: s.title, barMaxWidth: 20, cursor: 'pointer', itemStyle: {color: colors[s.k], borderColor: t.back, borderWidth: 0.5},
          emphasis: {focus: 'series'}, data: envs.map(e => medians(e)[s.k] > 0 ? {value: medians(e)[s.k] / scale.by, ns: medians(e)[s.k], itemStyle: {borderWidth: medians(e)[s.k] / most < 0.01 ? 0 : 0.5}} : '-'),
        })),
      };
    },
  };
  return section('phases', 'Phases of a life cycle', 'Where the time goes: medians of consecutive steps, from the request until the container is gone. An engine lacks the steps that it does not have; steps are medians of their own, so that their sum is near the median of the whole, and not the same.',
    controls(has.length > 1 ? workChoice(m, 'phases') : null), figure(spec),
    without.length ? h('p', {class: 'note'}, `Without phases: ${without.map(e => e.name).join(', ')}.`) : null);
}
