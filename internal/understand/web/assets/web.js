// What the served pages have in common. Charts, tables and numbers are the
// report's (the global plimsoll); without it the pages are plain tables. Text
// from data becomes text nodes only: nothing is ever parsed.
'use strict';
window.served = (() => {
  const report = window.plimsoll ?? {};

  function plainElement(tag, attrs, ...children) {
    const el = document.createElement(tag);
    for (const [k, v] of Object.entries(attrs ?? {})) {
      if (v == null || v === false || k === 'vars') continue;
      if (k.startsWith('on')) el.addEventListener(k.slice(2), v);
      else el.setAttribute(k, v === true ? '' : v);
    }
    el.append(...children.flat(Infinity).filter(c => c != null && c !== false && c !== ''));
    return el;
  }
  const h = report.h ?? plainElement;

  function plainTable({name, title, rows}) {
    const cell = c => c instanceof Node ? c : c == null ? '' : typeof c === 'object' ? c.el ?? String(c.t ?? '') : String(c);
    const [head, ...body] = rows;
    return h('div', {class: 'table'}, h('table', {id: name}, title && h('caption', null, title),
      h('thead', null, h('tr', null, head.map(c => h('th', {scope: 'col'}, cell(c))))),
      h('tbody', null, body.map(r => h('tr', null, r.map((c, i) => h(i === 0 ? 'th' : 'td', i === 0 ? {scope: 'row'} : null, cell(c))))))));
  }
  const table = report.table ?? plainTable;

  const plainNumbers = {
    scaleFor: unit => unit === 'ns' ? {unit: 'ms', by: 1e6} : {unit: unit ?? '', by: 1},
    estimate(v, lo, hi, s) {
      const f = x => String(Number((x / s.by).toPrecision(4)));
      return {value: v == null ? '' : f(v), interval: lo == null || hi == null ? '' : `[${f(lo)}, ${f(hi)}]`};
    },
  };
  const numbers = report.numbers ?? plainNumbers;

  // tip is a tooltip made of nodes: markup with styles of its own would be refused.
  const tip = (title, pairs) => h('div', {class: 'tip'}, h('strong', null, title),
    h('dl', null, pairs.filter(p => p && p[1] != null && p[1] !== '').map(([k, x]) => [h('dt', null, k), h('dd', null, String(x))])));

  // figure is a chart, null where there is nothing to draw charts with.
  const figure = spec => report.figure ? report.figure(spec) : null;

  // clean marks what would change how other text is shown: control characters,
  // and those that turn its direction or cannot be seen.
  function clean(v) {
    if (typeof v === 'string') return v.replace(/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu, c => c === '\n' || c === '\t' ? ' ' : '\ufffd');
    if (Array.isArray(v)) return v.map(clean);
    if (v && typeof v === 'object') return Object.fromEntries(Object.entries(v).map(([k, x]) => [k, clean(x)]));
    return v;
  }

  async function get(address) {
    const answer = await fetch(address);
    const body = await answer.json().then(clean).catch(() => ({error: `${answer.status} ${answer.statusText}`}));
    if (!answer.ok) throw new Error(body.error);
    return body;
  }

  function time(ns) {
    const s = ns / 1e9;
    if (s < 90) return `${Math.ceil(s)} s`;
    if (s < 5400) return `${Math.ceil(s / 60)} min`;
    return `${Math.ceil(s / 3600)} h`;
  }

  // date is of this browser's time zone.
  function date(at) {
    if (!at) return '';
    const d = new Date(at), two = n => String(n).padStart(2, '0');
    return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}\u00a0${two(d.getHours())}:${two(d.getMinutes())}`;
  }

  // level writes a share without a sign.
  const share = v => v == null ? '' : `${(100 * v).toFixed(v >= 0.1 ? 0 : 1)} %`;

  // num is a cell with a number, for the report's tables.
  const num = (t, v) => ({t: t ?? '', v, num: true});

  function complain(err) {
    console.warn(err.message);
    main().prepend(h('p', {class: 'bad', role: 'alert'}, err.message));
  }

  const main = () => document.getElementById('main');

  document.querySelector('.top').after(h('nav', {class: 'served', 'aria-label': 'Runs'}, h('a', {href: '/', 'aria-current': location.pathname === '/' && 'page'}, 'Runs')));

  return {h, table, numbers, figure, tip, get, clean, time, date, share, num, complain, main, report};
})();
