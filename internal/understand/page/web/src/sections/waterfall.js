import {h, list, section, absent} from '../dom.js';
import {amount, estimate, fixed, digits, scaleFor, short} from '../numbers.js';
import {figure} from '../chart.js';
import {beside, labels, rowHeight} from '../rows.js';
import {steps as stepColors} from '../colors.js';
import {table} from '../table.js';
import {tip} from '../tip.js';

// name says in a few words what a step takes away.
function name(w, s) {
  if (s.kind === 'engine') return `${s.of} itself, above ${s.mechanism}`;
  if (s.kind === 'last') return `${s.of} itself, above the floor`;
  if (s.kind === 'bare') return `${s.of} itself, above native`;
  return s.of === w.engine ? s.mechanism : `${s.of}: ${s.mechanism}`;
}

const written = (e, scale) => {
  if (!e) return '';
  const n = estimate(e.value, e.lo, e.hi, scale);
  return `${n.value} ${n.interval}`.trim();
};

// agreed says whether the timeline tells the same as the taking away.
const agreed = {same: 'yes', elsewhere: 'with steps that stay', open: 'open'};

// observed is the table of what traced starts say beside what was found by taking away.
function observed(w, k, scale, of) {
  const told = w.timeline, rows = list(w.steps).filter(s => s.observed);
  if (!told) return null;
  const reasons = new Map();
  for (const s of list(w.steps)) if (s.unfollowed) reasons.set(s.unfollowed, [...reasons.get(s.unfollowed) ?? [], s.mechanism]);
  const left = [...reasons].map(([why, of]) => h('p', {class: 'note'}, `Not followed: ${of.join(', ')} (${why}).`));
  if (!rows.length && !left.length) return null;
  const ns = v => ({t: of(v), v, num: true});
  const changed = x => list(x.steps).slice(0, 3).map(s => `${s.name}: ${s.with_ns ? of(s.with_ns) : 'nothing'} → ${s.without_ns ? of(s.without_ns) : 'gone'}`).join('; ');
  return [h('p', {class: 'note'}, rows.length ? `What the timeline says, by ${told.starts} traced starts with each mechanism and ${told.starts} without. Gone from the way is what was waited for with it and hardly without, less what came in its place; else is all else that changed. Yes: what is gone is within a fifth of the cost alone, or inside its interval. With steps that stay: it is so together with all else. Open: it is not.`
    : 'What the timeline says: no start was followed, since of no mechanism the cost is certain. More blocks narrow the intervals.'),
    rows.length ? table({name: `timeline-${k}`, title: `What the timeline says of ${w.engine}'s mechanisms`, rows: [['mechanism', {t: `taken away, ${scale.unit}`, num: true}, {t: `gone from the way, ${scale.unit}`, num: true}, {t: `else, ${scale.unit}`, num: true}, 'the same?', 'what changed the most'],
      ...rows.map(s => [s.mechanism, {t: written(s.alone, scale), v: s.alone.value, num: true}, ns(s.observed.gone_ns), ns(s.observed.else_ns), agreed[s.observed.verdict], changed(s.observed)])]}) : null,
    ...left];
}

// one is the picture and the tables of one engine.
function one(m, w, k) {
  const unit = w.metric.unit, base = w.base.median.value, scale = scaleFor(unit, [base]), of = v => v == null ? '' : fixed(v / scale.by, digits(v / scale.by, v / scale.by, v / scale.by));
  const steps = list(w.steps), chain = steps.filter(s => s.chain), work = m.works.find(x => x.id === w.workload);
  const label = v => fixed(v / scale.by, digits(base / scale.by, base / scale.by, base / scale.by)); // all bars to one place
  const rate = w.metric.better === 'higher', left = rate ? 'reached' : 'left', made = w.metric.from || list(w.parts).length ? 'is made of' : 'costs';
  const rows = [{name: 'with everything', from: 0, to: base, whole: true}, ...chain.map(s => ({name: name(w, s), from: s.after.median.value, to: s.after.median.value + (rate ? -1 : 1) * s.chain.value, s})), {name: 'the end of this chain', from: 0, to: w.floor.median.value, whole: true}];
  const spec = {
    name: `waterfall-${k}`, title: `What ${w.engine} ${made}: ${work?.title ?? w.workload}, ${w.metric.title ?? w.metric.id}`,
    describe: () => `${amount(base, unit)} with everything. ${[...chain].sort((a, b) => b.share - a.share).slice(0, 3).map(s => `${name(w, s)}: ${amount(s.chain.value, unit)}`).join('; ')}.`,
    height: () => rows.length * rowHeight(rows.length) + 64,
    table: () => [['taken away', {t: `one after the other, ${scale.unit}`, num: true}, {t: `${left}, ${scale.unit}`, num: true}, {t: `alone, ${scale.unit}`, num: true}],
      ...steps.map(s => s.chain || s.alone ? [name(w, s), {t: written(s.chain, scale), v: s.chain?.value ?? '', num: true}, {t: of(s.after?.median?.value), v: s.after?.median?.value ?? '', num: true}, {t: written(s.alone, scale), v: s.alone?.value ?? '', num: true}] : [name(w, s), {t: `n/a: ${s.missing}`}, '', ''])],
    option(t) {
      const l = labels(rows.map(r => r.name), t), color = stepColors(2, t.dark);
      return {
        grid: {left: l.left, right: beside(rows.map(r => label(r.to - r.from))), top: 8, bottom: 42},
        xAxis: {type: 'value', name: scale.unit, nameLocation: 'middle', nameGap: 28, axisLabel: {formatter: short, hideOverlap: true}},
        yAxis: l.axis,
        tooltip: {formatter: x => { const r = rows[x.dataIndex]; return tip(r.name, r.whole ? [['takes', amount(r.to, unit)]] : [['costs', `${written(r.s.chain, scale)} ${scale.unit}`], ['of all', `${(100 * r.s.share).toFixed(0)} %`], [`then ${left}`, amount(r.from, unit)], ['alone', r.s.alone ? `${written(r.s.alone, scale)} ${scale.unit}` : 'n/a'], ...(r.s.price ? [['its price', r.s.price]] : [])]); }},
        series: [
          {type: 'bar', stack: 'all', silent: true, itemStyle: {color: 'transparent'}, tooltip: {show: false}, data: rows.map(r => r.whole ? 0 : Math.min(r.from, r.to) / scale.by)},
          {type: 'bar', stack: 'all', barMaxWidth: 20, label: {show: true, position: 'right', color: t.text, fontFamily: t.font, fontSize: 12, formatter: x => label(rows[x.dataIndex].whole ? rows[x.dataIndex].to : rows[x.dataIndex].s.chain.value)}, data: rows.map(r => ({value: Math.abs(r.to - r.from) / scale.by, itemStyle: {color: r.whole ? color[0] : color[1], opacity: !r.whole && r.s.chain.value < 0 ? 0.4 : 1}}))},
        ],
      };
    },
  };
  const saved = steps.filter(s => s.kind === 'mechanism' && s.of === w.engine && s.price && s.alone?.lo > 0).sort((a, b) => b.alone.value - a.alone.value);
  const parts = list(w.parts), small = parts.length ? scaleFor(unit, parts.map(p => p.base.median.value)) : scale;
  const partOf = e => ({t: written(e, small), v: e?.value ?? '', num: true});
  const held = list(w.held_out).filter(x => x.off);
  return [figure(spec),
    parts.length ? table({name: `parts-${k}`, title: `What ${w.engine}'s ${w.metric.title ?? w.metric.id} consists of`, rows: [['taken away', ...parts.map(p => ({t: `${p.metric.title ?? p.metric.id}, ${small.unit}`, num: true}))],
      ['with everything', ...parts.map(p => partOf(p.base.median))], ...steps.map((s, i) => s.chain ? [name(w, s), ...parts.map(p => partOf(p.steps[i].chain))] : null).filter(Boolean), ['at the end', ...parts.map(p => partOf(p.floor.median))]]}) : null,
    saved.length ? table({name: `savings-${k}`, title: `What ${w.engine} can do without`, rows: [['without', {t: `${rate ? 'gains' : 'saves'}, ${scale.unit}`, num: true}, 'its price'], ...saved.map(s => [`${s.mechanism}: ${s.title}`, {t: written(s.alone, scale), v: s.alone.value, num: true}, s.price])]}) : null,
    observed(w, k, scale, of),
    held.length ? table({name: `held-out-${k}`, title: `What was predicted of ${w.engine}`, rows: [['taken away at once', {t: `predicted, ${scale.unit}`, num: true}, {t: `measured, ${scale.unit}`, num: true}, 'within a tenth, or the interval'],
      ...held.map(x => [x.mechanisms.join(', '), {t: of(x.measured.value - x.off.value), v: x.measured.value - x.off.value, num: true}, {t: of(x.measured.value), v: x.measured.value, num: true}, x.fits ? 'yes' : 'no'])]}) : null];
}

export function waterfall(m) {
  const all = list(m.data.ablations);
  if (!all.length) return absent('What an engine is made of', 'nothing was taken away from an engine: plimsoll ablate ENGINE');
  return section('waterfall', 'What it is made of', 'Each step shows what is saved (of a rate: gained) when it goes too, after all steps above it; the next begins where it ends. A pale bar is a step without which it took longer. Alone: while all else is there.',
    h('div', null, all.map((w, k) => one(m, w, k))));
}
