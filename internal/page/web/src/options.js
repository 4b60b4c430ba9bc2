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
    series: many(o.series).map(s => ({progressive: 0, largeThreshold: 2000, ...s})),
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

// titled is an option for a file of its own: with its title above.
export function titled(o, title, t) {
  const room = 34, down = x => ({...x, top: (typeof x.top === 'number' ? x.top : 10) + room});
  return {
    ...o,
    title: {text: title, left: 8, top: 8, textStyle: {fontSize: 15, fontWeight: 600, color: t.text, fontFamily: t.font}},
    grid: many(o.grid).map(down), legend: many(o.legend).map(l => l.bottom == null ? down(l) : l),
    dataZoom: many(o.dataZoom).filter(z => z.type === 'inside'), tooltip: {show: false},
  };
}
