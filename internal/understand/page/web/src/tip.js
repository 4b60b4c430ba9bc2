import {h} from './dom.js';

// tip is a tooltip: a heading and pairs of a word and a number, made of nodes.
export const tip = (title, pairs, note) => h('div', {class: 'tip'},
  h('strong', null, title),
  h('dl', null, pairs.filter(p => p && p[1] != null && p[1] !== '').map(([k, v]) => [h('dt', null, k), h('dd', null, String(v))])),
  note && h('p', null, note));
