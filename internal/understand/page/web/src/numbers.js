// How numbers are written: one unit for a column, and as many digits as an
// interval carries. The rules are those of the other reports.

const scales = {
  ns: [['ns', 1], ['µs', 1e3], ['ms', 1e6], ['s', 1e9]],
  bytes: [['B', 1], ['KiB', 2 ** 10], ['MiB', 2 ** 20], ['GiB', 2 ** 30]],
  'bytes/s': [['B/s', 1], ['KiB/s', 2 ** 10], ['MiB/s', 2 ** 20], ['GiB/s', 2 ** 30]],
  'bit/s': [['bit/s', 1], ['kbit/s', 1e3], ['Mbit/s', 1e6], ['Gbit/s', 1e9]],
};
scales.B = scales.bytes;
scales['B/s'] = scales['bytes/s'];

const isNumber = v => typeof v === 'number' && Number.isFinite(v);

// scaleFor chooses one unit for all values of a column: the one in which their
// geometric middle is 1 to 1000, or a larger one where the largest would have
// more than four digits before the point.
export function scaleFor(unit, values) {
  const units = scales[unit] ?? [[unit ?? '', 1]];
  let sum = 0, n = 0, most = 0;
  for (let v of values) {
    if (!isNumber(v) || v === 0) continue;
    v = Math.abs(v);
    sum += Math.log(v);
    n++;
    if (v > most) most = v;
  }
  let s = units[0];
  if (n > 0) {
    const mid = Math.exp(sum / n);
    for (const u of units.slice(1)) if (mid * (1 + 1e-9) >= u[1] || most / s[1] >= 1e4) s = u;
  }
  return {unit: s[0], by: s[1]};
}

// digits is the number of decimals that an estimate deserves.
export function digits(v, lo, hi) {
  const half = (hi - lo) / 2, size = Math.max(Math.abs(v), half);
  if (size === 0) return 2;
  const place = Math.floor(Math.log10(size));
  let d = 2 - place;
  if (half > 0) d = Math.min(Math.max(Math.ceil(-Math.log10(half / 2)), 1 - place), 2 - place);
  d = Math.max(0, d);
  for (let i = 0; i < 2 && lo !== hi && fixed(lo, d) === fixed(hi, d); i++) d++;
  return Math.min(d, 6);
}

export function fixed(v, d) {
  if (Math.abs(v) >= 1e7) return v.toExponential(2).replace('e+', 'e');
  const s = v.toFixed(d);
  return /^-[0.]*$/.test(s) ? s.slice(1) : s;
}

// estimate writes a value and its interval in a scale.
export function estimate(value, lo, hi, scale) {
  if (!isNumber(value)) return {value: '', interval: ''};
  const by = scale?.by ?? 1, v = value / by;
  if (!isNumber(lo) || !isNumber(hi)) return {value: fixed(v, digits(v, v, v)), interval: ''};
  const d = digits(v, lo / by, hi / by);
  return {value: fixed(v, d), interval: `[${fixed(lo / by, d)}, ${fixed(hi / by, d)}]`};
}

// amount writes a single value with its unit.
export function amount(v, unit) {
  if (!isNumber(v)) return '–';
  const s = scaleFor(unit, [v]), x = v / s.by;
  return `${fixed(x, digits(x, x, x))}${s.unit ? ` ${s.unit}` : ''}`;
}

// short writes a number for an axis: three significant digits at most.
export function short(v) {
  if (v === 0) return '0';
  const a = Math.abs(v);
  if (a >= 1e6 || a < 1e-4) return v.toExponential(1).replace('.0e', 'e').replace('e+', 'e');
  return String(Number(v.toPrecision(3)));
}

// cost is how many times worse something is that loses a share of its speed.
export const cost = lost => 1 / (1 - lost);

// factor writes how many times as much, as people say it.
export function factor(v) {
  if (!isNumber(v)) return '';
  return v >= 9.95 ? fixed(v, 0) : v >= 1.995 ? fixed(v, 1) : v >= 0.095 ? fixed(v, 2) : String(Number(v.toPrecision(2)));
}

// percent writes a fraction as a signed share.
export function percent(v) {
  if (!isNumber(v)) return '–';
  const p = 100 * v, a = Math.abs(p);
  const s = `${p > 0 ? '+' : p < 0 ? '−' : ''}${a >= 10 ? a.toFixed(0) : a.toFixed(1)} %`;
  return /^[+−]?0\.0 %$/.test(s) ? '0 %' : s;
}

export const plural = (n, what) => `${n} ${what}${n === 1 ? '' : 's'}`;

export const median = values => quantile([...values].sort((a, b) => a - b), 0.5);

// quantile of sorted values, interpolated.
export function quantile(sorted, q) {
  const p = q * (sorted.length - 1), i = Math.floor(p);
  return i + 1 < sorted.length ? sorted[i] + (p - i) * (sorted[i + 1] - sorted[i]) : sorted[i];
}
