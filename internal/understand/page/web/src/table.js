// Tables: rows are lists of cells, the first row is the head. A cell is a text,
// a number, a node, or {t: text, v: value for the file, el: node, num: true,
// cls, title}.
import {h, save} from './dom.js';

const raw = c => c == null ? '' : c instanceof Node ? c.textContent : typeof c === 'object' ? String(c.v ?? c.t ?? c.el?.textContent ?? '') : String(c);

// A spreadsheet would take a text that begins so for a formula.
const defuse = s => /^[=+@\t-]/.test(s) && !/^[+-]?[\d.]/.test(s) ? `'${s}` : s;

// csv writes rows as a file (RFC 4180).
export const csv = rows => rows.filter(r => !r.head).map(r => r.map(raw).map(defuse).map(s => /[",\r\n]/.test(s) ? `"${s.replaceAll('"', '""')}"` : s).join(',') + '\r\n').join('');

function cell(c, tag, attrs) {
  if (c == null || typeof c !== 'object' || c instanceof Node) c = {t: c};
  return h(tag, {...attrs, class: [c.num || typeof c.t === 'number' ? 'num' : '', c.cls ?? ''].filter(Boolean).join(' ') || null, title: c.title, colspan: c.span, vars: c.vars},
    c.el ?? (c.t instanceof Node ? c.t : c.t == null ? '' : String(c.t)));
}

// table shows rows. A row with the property head is a line between the others.
// file are other rows for the CSV, where a table shows less than there is.
export function table({name, title, rows, file, save: saved = true, cls, first = true}) {
  const [head, ...body] = rows;
  const numeric = head.map((_, i) => body.some(r => r[i]?.num || typeof r[i] === 'number') && body.every(r => r.head || r[i] == null || r[i] === '' || r[i]?.num || typeof r[i] === 'number'));
  const el = h('table', {id: name, class: cls},
    title && h('caption', {class: 'hidden'}, title),
    h('thead', null, h('tr', null, head.map((c, i) => cell(c, 'th', {scope: 'col', ...(numeric[i] && {'data-num': ''})})))),
    h('tbody', null, body.map(r => h('tr', {class: r.cls ?? (r.head ? 'group' : null)},
      r.head ? cell({t: r.head, span: head.length}, 'th', {scope: 'rowgroup'})
        : r.map((c, i) => i === 0 && first ? cell(c, 'th', {scope: 'row'}) : cell(c, 'td'))))));
  return h('div', {class: 'table'},
    h('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `Table: ${title ?? name}`}, el),
    saved && h('div', {class: 'buttons'}, h('button', {id: `${name}-csv`, type: 'button', title: `Save “${title ?? name}” as CSV`, 'aria-label': `Save “${title ?? name}” as CSV`,
      onclick: () => save(`${name}.csv`, 'text/csv', csv(file ?? rows))}, 'CSV')));
}
