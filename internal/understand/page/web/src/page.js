// The page: its sections in their order, the contents, the filters.
import {absent, h, section} from './dom.js';
import {filters} from './filters.js';
import * as themes from './theme.js';
import {answer} from './sections/answer.js';
import {audit} from './sections/audit.js';
import {courses} from './sections/courses.js';
import {distributions} from './sections/distributions.js';
import {facts, repeat} from './sections/facts.js';
import {features} from './sections/features.js';
import {findings, papers} from './sections/findings.js';
import {order} from './sections/order.js';
import {phases} from './sections/phases.js';
import {ranking} from './sections/ranking.js';
import {run} from './sections/run.js';
import {series} from './sections/series.js';
import {waterfall} from './sections/waterfall.js';
import {workloads} from './sections/workloads.js';

// figures are pictures that the file itself has; the page keeps them.
const pictures = document.getElementById('figures');
function figures() {
  return pictures ?? absent('Curves and figures', 'no workload ran at two levels of a numeric parameter, and the study repeats no figures');
}

// The answer first; what it rests on, machine, trust and terms, after the charts.
const sections = [answer, waterfall, courses, ranking, workloads, phases, distributions, series, order, findings, papers, figures, run, audit, features, facts, repeat];

// build makes all sections. One that fails says so, and the others stand.
function build(m) {
  const nodes = [], missing = [];
  for (const make of sections) {
    let made;
    try {
      made = make(m);
    } catch (err) {
      console.error(`section ${make.name}:`, err);
      made = section(make.name, make.name, null, h('p', {class: 'bad'}, `This part could not be drawn: ${err.message}`));
    }
    if (made instanceof Node) nodes.push(made);
    else if (made) missing.push(made);
  }
  if (missing.length) nodes.splice(-2, 0, section('absent', 'Not in this report', null, h('dl', {class: 'facts'}, missing.map(x => [h('dt', null, x.absent), h('dd', null, x.why.replace(/\.?$/, '.'))]))));
  return nodes;
}

// contents lists the sections.
function contents(nodes) {
  return h('ol', null, nodes.map(n => h('li', null, h('a', {href: `#${n.id}`}, n.dataset.title))));
}

// keep what a reader has opened and where the focus is, while make runs.
function keeping(make) {
  const open = new Map([...document.querySelectorAll('details[id]')].map(d => [d.id, d.open])), focus = document.activeElement?.id;
  make();
  for (const [id, is] of open) { const d = document.getElementById(id); if (d) d.open = is; }
  if (focus && document.activeElement?.id !== focus) document.getElementById(focus)?.focus({preventScroll: true});
}

export function render(m) {
  keeping(() => {
    const main = document.getElementById('main'), nodes = build(m), run = m.data.run;
    document.getElementById('title').textContent = run.title || run.study;
    document.getElementById('contents').replaceChildren(contents(nodes));
    document.getElementById('tools').replaceChildren(filters(m));
    main.replaceChildren(...nodes);
    document.body.dataset.shown = 'true';
  });
}

// follow makes the links of the contents move the page and leave the address,
// which holds the filters, alone.
function follow(e) {
  const a = e.target.closest?.('a[href^="#"]'), to = a && document.getElementById(a.getAttribute('href').slice(1));
  if (!to) return;
  e.preventDefault();
  to.scrollIntoView();
  to.focus({preventScroll: true});
}

export function chrome() {
  document.documentElement.classList.add('script');
  document.addEventListener('click', follow);
  const button = h('button', {type: 'button', id: 'theme', onclick: themes.toggle});
  const say = () => { button.textContent = themes.isDark() ? 'Light' : 'Dark'; button.setAttribute('aria-label', `Switch to the ${themes.isDark() ? 'light' : 'dark'} theme`); };
  say();
  themes.onchange(say);
  document.getElementById('switch').replaceChildren(button);
}

export function complain(text) {
  document.getElementById('main').prepend(h('p', {class: 'bad', role: 'alert'}, text));
}

