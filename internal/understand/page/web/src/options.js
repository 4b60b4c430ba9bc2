// What every chart has in common: the colours of the theme, no animation, and
// drawing in one go (progressive drawing flickers).

const many = v => v == null ? [] : Array.isArray(v) ? v : [v];

function axis(a, t) {
  const value = a.type === 'value' || a.type === 'log' || a.type === 'time';
  return {
    ...a,
    nameTextStyle: {color: t.muted, fontFamily: t.font, ...a.nameTextStyle},
    axisLine: {onZero: false, lineStyle: {color: t.line}, ...a.axisLine},
    axisTick: {lineStyle: {color: t.line}, ...a.axisTick},
    axisLabel: {color: t.text, fontFamily: t.font, ...a.axisLabel},
    splitLine: {show: value, lineStyle: {color: t.grid}, ...a.splitLine},
    minorSplitLine: {lineStyle: {color: t.grid, opacity: 0.5}, ...a.minorSplitLine},
  };
}

// complete puts the theme into an option.
export function complete(o, t, describe) {
  const out = {
    animation: false,
    backgroundColor: 'transparent',
    textStyle: {fontFamily: t.font, color: t.text},
    ...o,
    aria: {enabled: true, label: {description: describe}},
    // A line stands at its very value: the library would round it to two decimals.
    series: many(o.series).map(s => ({progressive: 0, largeThreshold: 2000, ...s, ...(s.markLine && {markLine: {precision: -1, ...s.markLine}})})),
  };
  for (const k of ['xAxis', 'yAxis']) if (o[k]) out[k] = many(o[k]).map(a => axis(a, t));
  if (o.grid) out.grid = many(o.grid);
  out.legend = many(o.legend).map(l => ({
    type: 'scroll', itemWidth: 14, itemHeight: 10, icon: 'roundRect', ...l,
    textStyle: {color: t.text, fontFamily: t.font, ...l.textStyle}, pageTextStyle: {color: t.muted}, pageIconColor: t.text, pageIconInactiveColor: t.line, inactiveColor: t.line,
  }));
  out.tooltip = {
    trigger: 'item', confine: true, appendTo: undefined, backgroundColor: t.panel, borderColor: t.line, borderWidth: 1, padding: 10,
    extraCssText: 'box-shadow:none;white-space:normal;max-width:min(28rem,90vw)', textStyle: {color: t.text, fontFamily: t.font, fontSize: 13}, transitionDuration: 0, ...o.tooltip,
  };
  return out;
}

// legendLines is how many lines the names of a legend take that shows them all.
export function legendLines(names, width) {
  let lines = 1, x = 0;
  for (const n of names) {
    const w = String(n.name ?? n).length * 6.5 + 28;
    if (x && x + w > width - 10) lines++, x = 0;
    x += w;
  }
  return lines;
}

// legendLine is the height of one of them, pixels.
export const legendLine = 22;

// headroom is what a file of its own has above the chart: its title, and the
// lines of a legend that nobody can page through there.
export function headroom(o, t) {
  const scrolled = many(o.legend).filter(l => l.type !== 'plain');
  const names = scrolled.flatMap(l => l.data ?? [...new Set(many(o.series).map(s => s.name).filter(Boolean))]);
  return 34 + legendLine * (legendLines(names, t.width) - 1);
}

// titled is an option for a file of its own: with its title above.
export function titled(o, title, t) {
  const room = headroom(o, t), down = (x, by) => ({...x, top: (typeof x.top === 'number' ? x.top : 10) + by});
  return {
    ...o,
    title: {text: title, left: 8, top: 8, textStyle: {fontSize: 15, fontWeight: 600, color: t.text, fontFamily: t.font}},
    grid: many(o.grid).map(g => down(g, room)), legend: many(o.legend).map(l => ({...(l.bottom == null ? down(l, 34) : l), type: 'plain'})),
    dataZoom: many(o.dataZoom).filter(z => z.type === 'inside'), tooltip: {show: false},
  };
}
