// What charts with a row for each environment have in common.
import {short} from './numbers.js';

// labels is the room for names, and the axis that shows them, cut short where
// they are longer. Two that would then be one get more room.
export function labels(names, t, more) {
  const most = t.width < 360 ? 105 : t.width < 520 ? 150 : Math.round(t.width * 0.38);
  const longest = Math.max(40, ...names.map(n => n.length * 7));
  const apart = w => new Set(names.map(n => middle(n, Math.floor(w / 6.8)))).size === new Set(names).size;
  let width = Math.min(most, longest);
  while (width < longest && width < t.width * 0.45 && !apart(width)) width += 7;
  return {
    left: width + 14,
    axis: {type: 'category', data: names, inverse: true, triggerEvent: true, axisTick: {show: false}, splitLine: {show: false},
      axisLabel: {formatter: v => middle(v, Math.floor(width / 6.8)), fontSize: 12, interval: 0}, ...more},
  };
}

// above is the same where there is little room: each name stands whole above its row.
export function above(names, t) {
  const fit = Math.floor(t.width / 6.8);
  return {
    left: 8,
    axis: {type: 'category', data: names, inverse: true, triggerEvent: true, axisTick: {show: false}, axisLine: {show: false}, splitLine: {show: false}, z: 1,
      axisLabel: {formatter: v => middle(v, fit), fontSize: 12, interval: 0, inside: true, margin: 0, align: 'left', verticalAlign: 'bottom', padding: [1, 3, 9, 0], backgroundColor: t.back}},
  };
}

// narrow says whether names have no room beside the rows.
export const narrow = width => width < 520;

// share is where on an axis a value lies, from 0 to 1.
export function share(axis, v) {
  const at = axis.type === 'log' ? Math.log : x => x;
  return axis.max > axis.min ? (at(v) - at(axis.min)) / (at(axis.max) - at(axis.min)) : 0;
}

// middle shortens a name to n characters: environments of one engine differ at
// their ends.
export function middle(s, n) {
  const c = [...s];
  if (c.length <= n) return s;
  const slash = s.lastIndexOf('/'), end = slash >= 0 && c.length - slash <= n / 2 ? c.length - slash : Math.floor(n * 0.4);
  return `${c.slice(0, n - 1 - end).join('')}…${c.slice(-end).join('')}`;
}

export const rowHeight = (n, width) => narrow(width) ? 40 : Math.max(n > 30 ? 21 : 26, Math.min(34, 900 / Math.max(1, n)));

// long says whether so many rows have an axis at both ends.
export const long = n => n > 12;

// leastSpan is how much an axis shows at least, as a share of what is in its middle:
// what differs by less must not look as if it mattered, and ticks that are nearer to
// each other would have the same three digits.
const leastSpan = 0.1;

// linear is an axis with round ends and ticks, each of which is written with the
// digits that tell it from the next.
export function linear(lo, hi) {
  if (!(lo <= hi)) return {};
  const span = Math.max(Math.abs(lo + hi) / 2 * leastSpan, hi - lo) || 1, middle = (lo + hi) / 2;
  const from = lo >= 0 ? Math.max(0, middle - span / 2) : middle - span / 2, step = nice(span / 4, true);
  const min = Math.floor(from / step + 1e-9) * step, max = Math.ceil(Math.max(hi, from + span) / step - 1e-9) * step;
  const decimals = Math.min(9, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
  return {min, max, interval: step, formatter: v => Math.abs(v) >= 1e6 ? v.toExponential(Math.max(0, Math.ceil(Math.log10(Math.abs(v) / step)))).replace('e+', 'e') : v.toFixed(decimals)};
}

// scaleAxis is logarithmic where the values span enough for it.
export function scaleAxis(values, name, more) {
  const good = values.filter(v => Number.isFinite(v));
  const lo = Math.min(...good), hi = Math.max(...good);
  const base = {name, nameLocation: 'middle', nameGap: 28, axisLabel: {formatter: short, hideOverlap: true, fontSize: 12}, ...more};
  if (!good.length || lo <= 0 || hi / lo < 3) {
    const {formatter, ...ends} = linear(lo, hi);
    return {...base, type: 'value', scale: true, ...ends, axisLabel: {...base.axisLabel, ...(formatter && {formatter})}};
  }
  const wide = hi / lo > 60, k = wide ? 10 : 2, log = Math.log(k);
  const min = wide ? nice(lo * 0.9, false) : k ** Math.floor(Math.log(lo * 0.97) / log), max = wide ? nice(hi * 1.1, true) : k ** Math.ceil(Math.log(hi * 1.03) / log);
  return {...base, type: 'log', logBase: k, min, max};
}

// nice is the next of 1, 2, 5 times a power of ten.
function nice(v, up) {
  const p = 10 ** Math.floor(Math.log10(v)), steps = [1, 2, 5, 10];
  return p * (up ? steps.find(s => s * p >= v * 0.999) : steps.findLast(s => s * p <= v * 1.001));
}

// beside is the room that numbers beside their points take, pixels.
export const beside = texts => 14 + Math.ceil(6.8 * Math.max(0, ...texts.map(s => s.length)));

// spans is a custom series of horizontal intervals: [row, lo, hi] with a colour
// each, a text behind it and the point at, and a note: behind the text, or before the
// interval where that ends far right.
export function spans(items, t) {
  return {
    type: 'custom', silent: true, z: 2, encode: {x: [1, 2], y: 0}, data: items.map(i => [i.row, i.lo, i.hi]),
    renderItem(_, api) {
      const i = api.value(0), a = api.coord([api.value(1), i]), b = api.coord([api.value(2), i]), color = items.find(x => x.row === i).color;
      const style = {stroke: color, lineWidth: 2}, cap = 4;
      const line = (x1, y1, x2, y2) => ({type: 'line', shape: {x1, y1, x2, y2}, style});
      const {text, bare, at, note, far} = items.find(x => x.row === i);
      const point = api.coord([at, i])[0], end = Math.max(b[0] + 6, point + 10);
      const write = (text, x, fill, textAlign, more) => ({type: 'text', x, y: b[1], style: {text, fill, font: `12px ${t.font}`, textAlign, textVerticalAlign: 'middle', ...more}});
      return {type: 'group', children: [
        ...(bare ? [] : [line(a[0], a[1], b[0], b[1]), line(a[0], a[1] - cap, a[0], a[1] + cap), line(b[0], b[1] - cap, b[0], b[1] + cap)]),
        ...(text ? [write(text, end, t.text, 'left')] : []),
        ...(note ? [far ? write(note, Math.min(a[0], point) - 10, t.muted, 'right', {backgroundColor: t.back}) : write(note, end + 12 + 6.8 * text.length, t.muted, 'left', {backgroundColor: t.back})] : []),
      ]};
    },
    color: t.text,
  };
}
