import assert from 'node:assert/strict';
import {test} from 'node:test';
import {amount, cost, digits, estimate, factor, fixed, percent, quantile, scaleFor, short} from './src/numbers.js';
import {linear} from './src/rows.js';
import {clean, cleanAll} from './src/clean.js';
import {diverging, ink, luminance, mix, palette} from './src/colors.js';

test('a column has one unit', () => {
  assert.deepEqual(scaleFor('ns', [1.2e6, 3e6, null]), {unit: 'ms', by: 1e6});
  assert.deepEqual(scaleFor('bytes', [4096]), {unit: 'KiB', by: 1024});
  assert.deepEqual(scaleFor('events/s', [3764]), {unit: 'events/s', by: 1});
  assert.deepEqual(scaleFor('ns', []), {unit: 'ns', by: 1});
});

test('an estimate has the digits that its interval carries', () => {
  assert.deepEqual(estimate(3.694e6, 3.66e6, 3.99e6, {by: 1e6}), {value: '3.69', interval: '[3.66, 3.99]'});
  assert.deepEqual(estimate(97.3, 92.1, 101.4, {by: 1}), {value: '97', interval: '[92, 101]'});
  assert.deepEqual(estimate(5, null, null, {by: 1}), {value: '5.00', interval: ''});
  assert.deepEqual(estimate(null, 1, 2, {by: 1}), {value: '', interval: ''});
  assert.equal(digits(0, 0, 0), 2);
  assert.equal(fixed(-0.001, 1), '0.0');
  assert.equal(fixed(2.3e7, 1), '2.30e7');
});

test('single numbers', () => {
  assert.equal(amount(1536, 'bytes'), '1.50 KiB');
  assert.equal(amount(null, 'ns'), '–');
  assert.equal(percent(0.123), '+12 %');
  assert.equal(percent(-0.0123), '−1.2 %');
  assert.equal(percent(0), '0 %');
  assert.equal(short(cost(0.9)), '10');
  assert.equal(short(cost(-1)), '0.5');
  assert.equal(short(1234567), '1.2e6');
  assert.equal(short(0.30000000000000004), '0.3');
  assert.equal(quantile([1, 2, 3, 4], 0.5), 2.5);
});

test('what a container printed is made harmless', () => {
  assert.equal(clean('\x1b[31mred\x1b[0m\x00 \u202Eevil\nline'), 'red  evil\nline');
  assert.equal(clean('\x1b]0;title\x07x'), 'x');
  assert.equal(clean('a'.repeat(100_000)).length, 20_001);
  assert.deepEqual(cleanAll({'k\x1b[1m': ['a\x07', null, {b: 'c\u200f'}], n: [1, 2]}), {k: ['a ', null, {b: 'c'}], n: [1, 2]});
});

const contrast = (a, b) => {
  const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
  return (x + 0.05) / (y + 0.05);
};

test('colours stand out against the page, and words against colours', () => {
  const envs = ['docker', 'podman', 'containerd', 'crun', 'lxd', 'incus', 'apptainer', 'charliecloud', 'balena', 'cri'].flatMap(g => [1, 2, 3].map(n => ({group: g, name: `${g}/${n}`})));
  envs.push({group: 'native', baseline: 'native'}, {group: 'floor', baseline: 'floor'});
  for (const [dark, back] of [[false, '#ffffff'], [true, '#15181c']]) {
    const looks = palette(envs, dark);
    for (const l of looks) assert.ok(contrast(l.color, back) >= 3, `${l.color} on ${back}: ${contrast(l.color, back)}`);
    assert.equal(new Set(looks.map(l => `${l.color} ${l.symbol}`)).size, envs.length);
    for (let i = 0; i <= 20; i++) {
      const c = mix(diverging(dark), i / 20);
      assert.ok(contrast(c, ink(c)) >= 4.5, `${ink(c)} on ${c}`);
    }
  }
});

test('how many times as much is written as people do', () => {
  assert.deepEqual([108.4, 9.96, 4.44, 1.68, 0.084, 0.7].map(factor), ['108', '10', '4.4', '1.68', '0.084', '0.70']);
});

test('an axis has a least span, and no tick twice', () => {
  for (const [lo, hi] of [[19.001, 19.004], [19, 19], [0, 0], [0.2311, 0.2312], [1023, 1024], [0, 3e-7], [-2, 5], [1.5e7, 1.5001e7], [99.2, 101.7]]) {
    const a = linear(lo, hi), ticks = [];
    for (let v = a.min; v <= a.max + a.interval / 2; v += a.interval) ticks.push(a.formatter(v));
    assert.ok(a.min <= lo && a.max >= hi, `${lo} to ${hi}: ${a.min} to ${a.max}`);
    assert.ok(ticks.length >= 3 && ticks.length <= 8 && new Set(ticks).size === ticks.length, `${lo} to ${hi}: ${ticks}`);
    if (lo > 0) assert.ok(a.max - a.min >= 0.099 * lo, `${lo} to ${hi} spans ${a.max - a.min}`);
  }
});
