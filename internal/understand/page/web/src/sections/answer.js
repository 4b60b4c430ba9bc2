// The answer first: what a terminal says on its one screen, and the main chart.
import {h, list, section, details} from '../dom.js';
import {table} from '../table.js';
import * as state from '../state.js';
import {rankingChart} from './ranking.js';

// most is how many workloads have a row before the others are folded away.
const most = 20;

// several says whether the answer is a row for each workload.
export const several = m => list(m.data.answer?.works).length > 0;

function lines(all) {
  return all.length ? h('dl', {class: 'answer'}, all.map(l => [h('dt', {class: l.tone || null}, l.label), h('dd', {class: l.tone || null}, l.text)])) : null;
}

// go leads to the ranking of a workload.
function go(m, id) {
  const w = m.works.find(x => x.id === id);
  if (!w) return id;
  return h('button', {type: 'button', class: 'env', id: `go-${w.i}`, title: `${w.title}: show its ranking`, onclick: () => {
    state.set({work: w.id, metric: null});
    requestAnimationFrame(() => document.getElementById('ranking')?.scrollIntoView());
  }}, id);
}

function worksTable(m, name, works) {
  return table({name, title: 'Workloads by their best and worst environments', save: false, rows: [['workload', 'best', {t: '× best', num: true, title: 'how many times worse the worst is'}, 'worst'],
    ...works.map(w => {
      const quiet = w.apart ? '' : 'quiet';
      return [{el: go(m, w.workload), v: w.workload}, {t: w.best, cls: quiet}, {t: w.times ? `${w.times}${w.apart ? '' : ' ~'}` : '', num: true, cls: quiet}, {t: w.worst ?? '', cls: quiet}];
    })]});
}

// coded sets the commands in a sentence off as code.
const coded = s => s.split('`').map((part, i) => i % 2 ? h('code', null, part) : part);

export function answer(m) {
  const a = m.data.answer, works = list(a?.works), said = list(m.data.verdict), rest = works.slice(most);
  if (!a && !said.length) return null;
  const words = said.length ? h('div', {class: 'verdict'}, said.map(s => h('p', null, coded(s)))) : null;
  return section('answer', 'Answer', a?.headline,
    a ? lines(list(a.lines)) : words,
    works.length ? [worksTable(m, 'works-best', works.slice(0, most)),
      rest.length ? details('works-rest', `${rest.length} more workloads`, () => worksTable(m, 'works-others', rest)) : null,
      h('p', {class: 'note'}, 'The largest differences first. ~ the two cannot be told apart yet.')] : null,
    a && !works.length ? rankingChart(m) : null,
    // Of several workloads a sentence would be about one of them.
    a && words && !works.length ? [h('h3', null, 'In sentences'), words] : null);
}
