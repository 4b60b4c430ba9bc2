// The filters: by engine and by the levels of factors. What is chosen is in the
// address, so that a link shows the same.
import {h} from './dom.js';
import {isDark} from './theme.js';
import * as state from './state.js';

function boxes(id, title, all, chosen, count, set, color) {
  const on = v => !chosen || chosen.includes(v);
  return h('fieldset', {id: `filter-${id}`}, h('legend', null, title), all.map((v, i) => h('label', {class: 'box', vars: color ? {'--mark': color(v)} : null},
    h('input', {type: 'checkbox', id: `filter-${id}-${i}`, checked: on(v), onchange: e => {
      const now = all.filter(x => x === v ? e.target.checked : on(x));
      set(now.length === all.length ? null : now);
    }}), color ? h('span', {class: 'swatch', 'aria-hidden': 'true'}) : null, h('span', null, v), h('span', {class: 'quiet'}, ` ${count(v)}`))));
}

export function filters(m) {
  const dark = isDark(), set = state.chosen('engine') || state.names('f.').length;
  const color = g => m.look(m.envs.find(e => e.group === g), dark).color;
  return h('details', {id: 'filters', class: 'filters'},
    h('summary', null, 'Filter', h('span', {class: 'quiet'}, set ? ` ${m.shown().length} of ${m.envs.length}` : '')),
    h('div', {class: 'fieldsets'},
      boxes('engine', 'Engine', m.groups, state.chosen('engine'), g => m.envs.filter(e => e.group === g).length, v => state.set({engine: v}), color),
      m.factors.map(f => boxes(f.name.replace(/\W+/g, '-'), f.name, f.levels, state.chosen(`f.${f.name}`), l => m.envs.filter(e => !e.baseline && m.level(e, f.name) === l).length, v => state.set({[`f.${f.name}`]: v})))),
    h('button', {type: 'button', id: 'filter-reset', disabled: !set, onclick: () => state.set(Object.fromEntries([['engine', null], ...m.factors.map(f => [`f.${f.name}`, null])]))}, 'Show all'));
}
