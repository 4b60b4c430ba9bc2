// What the reader chooses where a chart is of one workload, metric, baseline.
import {choice, segments, h} from './dom.js';
import * as state from './state.js';

export function workChoice(m, where) {
  if (m.works.length < 2) return null;
  return choice(`${where}-work`, 'Workload', m.works.filter(w => w.tables.length).map(w => [w.id, w.title]), m.work().id, v => state.set({work: v, metric: null}));
}

export function metricChoice(m, where) {
  const w = m.work(), t = m.table(w);
  // A check that all agree on has its line in the answer.
  const agreed = x => x.metric.kind === 'check' && new Set((x.median ?? []).filter(v => v != null)).size < 2;
  const has = w.tables.filter(x => (x.median ?? []).some(v => v != null) && (x === t || !agreed(x)));
  if (has.length < 2) return null;
  const rank = x => { const i = w.show.indexOf(x.metric.id); return i < 0 ? 99 : i; };
  has.sort((a, b) => rank(a) - rank(b));
  return choice(`${where}-metric`, 'Metric', has.map(x => [x.metric.id, x.metric.title || x.metric.id]), t.metric.id, v => state.set({metric: v}));
}

export const controls = (...all) => {
  const some = all.flat().filter(Boolean);
  return some.length ? h('div', {class: 'controls'}, some) : null;
};

export {segments};
