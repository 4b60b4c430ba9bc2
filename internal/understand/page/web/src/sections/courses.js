// The course of a start, where the run followed starts: the way and its threads, as
// plimsoll explain draws them.
import '../../lanes.js';
import {h, list, section, choice} from '../dom.js';
import {amount, plural} from '../numbers.js';
import {controls} from '../controls.js';
import {table} from '../table.js';
import * as state from '../state.js';
import * as themes from '../theme.js';

const colours = dark => dark
  ? {running: '#4aa8de', queued: '#ef8a3c', waiting: '#4a525b', unseen: '#23282d'}
  : {running: '#0072b2', queued: '#d55e00', waiting: '#b9c2cc', unseen: '#eceff2'};
const states = [['running', 'runs'], ['queued', 'waits for a processor'], ['waiting', 'waits'], ['unseen', 'not seen']];

// colour is one of the lanes' in the theme that is shown.
function colour(name) {
  const t = themes.theme();
  return {paper: t.back, ink: t.text, way: t.text, faint: t.muted, line: t.grid}[name] ?? colours(t.dark)[name];
}

const drawn = new Map(); // by course, so that a view stays when the page is made anew
themes.onchange(() => { for (const d of drawn.values()) d.lanes.draw(); });

function lanes(c, key) {
  let d = drawn.get(key);
  if (d) return d.el;
  const button = (id, text) => h('button', {type: 'button', id: `lanes-${id}`}, text);
  const canvas = h('canvas'), said = h('p', {class: 'note', role: 'status', 'aria-live': 'polite'}), shown = h('span', {class: 'quiet'});
  const zoomIn = button('in', 'Zoom in'), zoomOut = button('out', 'Zoom out'), all = button('all', 'Show all');
  const box = h('div', {class: 'lanes', id: 'lanes', tabindex: 0, role: 'group', 'aria-label': 'Lanes: the way, and a lane for each thread'}, canvas);
  const el = h('div', null, h('div', {class: 'controls'}, zoomIn, zoomOut, all, shown), box,
    h('p', {class: 'note keys'}, states.map(([k, text]) => h('span', {class: `key ${k}`}, text))), said);
  d = {el, lanes: globalThis.plimsollDrawLanes(c.lanes, {box, canvas, said, shown, zoomIn, zoomOut, all}, colour)};
  drawn.set(key, d);
  return el;
}

export function courses(m) {
  const all = list(m.data.courses).filter(c => m.envs[c.env]);
  if (!all.length) return null;
  const c = all.find(x => m.envs[x.env].id === state.get('course')) ?? all[0], e = m.envs[c.env];
  return section('courses', 'Where the time of a start goes', `The start of ${e.name} whose time is the median: ${amount(c.lanes.span_ns, 'ns')}; the median of ${plural(c.starts, 'start')} is ${amount(c.ns, 'ns')}. The way leads from the request to the end; below it are the threads that are on it. Drag to move, + and − or the mouse wheel with Ctrl zoom, 0 shows all, ← and → go from piece to piece of the way.`,
    controls(all.length > 1 ? choice('course', 'Environment', all.map(x => [m.envs[x.env].id, m.envs[x.env].name]), e.id, v => state.set({course: v})) : null),
    lanes(c, `${m.data.run.id} ${e.id}`),
    table({name: 'course-stages', title: `Where the time of a start of ${e.name} goes`, rows: [[{t: 'at, ms', num: true}, {t: 'ms', num: true}, {t: 'shorter, ms', num: true}, 'who', 'most of it'],
      ...list(c.stages).map(s => [{t: (s.from / 1e6).toFixed(2), v: s.from, num: true}, {t: (s.ns / 1e6).toFixed(2), v: s.ns, num: true}, {t: (s.shorter_ns / 1e6).toFixed(2), v: s.shorter_ns, num: true}, s.who, `${s.why} (${(100 * s.share).toFixed(0)} %)`])], first: false}),
    h('p', {class: 'note'}, 'Shorter: so much less, at most, the start would take without this part, if all else took as long as it did and waited for the same. Taking it away measures what is saved: plimsoll ablate.'));
}
