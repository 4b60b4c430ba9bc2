// The raw trials behind a mark, in a dialog.
import {h, list} from './dom.js';
import {table} from './table.js';
import {estimate, plural, scaleFor} from './numbers.js';

const most = 500;

// columns are a workload's metrics by trial, those to show first.
function columns(m, w, places) {
  const here = new Set(places), out = [];
  for (const t of w.tables) {
    const byTrial = new Map();
    for (const d of list(t.dist)) list(d?.trial).forEach((k, i) => { if (here.has(k)) byTrial.set(k, d.values[i]); });
    if (byTrial.size) out.push({metric: t.metric, byTrial, scale: scaleFor(t.metric.unit, [...byTrial.values()])});
  }
  const rank = c => { const i = w.show.indexOf(c.metric.id); return i < 0 ? 99 : i; };
  return out.sort((a, b) => rank(a) - rank(b)).slice(0, 8);
}

const clock = ms => {
  const s = ms / 1000;
  return s < 60 ? `${s.toFixed(2)} s` : `${Math.floor(s / 60)} min ${(s % 60).toFixed(0).padStart(2, '0')} s`;
};

// ofCell lists the trials of an environment with a workload.
export function ofCell(m, w, e) {
  const t = m.data.trials ?? {}, out = [];
  list(t.env).forEach((x, k) => { if (x === e.i && t.work[k] === w.i) out.push(k); });
  return out;
}

// show opens the dialog. places are those in Trials, mark the one to point at.
export function show(m, w, places, title, mark) {
  const t = m.data.trials ?? {}, cols = columns(m, w, places), shown = places.slice(0, most);
  const single = new Set(places.map(k => t.env[k])).size < 2;
  const head = ['trial', ...(single ? [] : ['environment']), 'block', 'at', 'ended',
    ...cols.map(c => ({t: `${c.metric.title || c.metric.id}${c.scale.unit ? `, ${c.scale.unit}` : ''}`, num: true}))];
  const rows = [head, ...shown.map(k => {
    const failed = t.class?.[k] ?? '';
    const row = [{t: String(t.seq[k]), num: true, cls: k === mark ? 'marked' : ''}, ...(single ? [] : [m.envs[t.env[k]]?.name]), {t: t.block[k], num: true}, {t: clock(t.at[k]), v: t.at[k], num: true},
      failed ? {t: failed, cls: 'bad', title: t.text?.[k]} : 'well',
      ...cols.map(c => c.byTrial.has(k) ? {t: estimate(c.byTrial.get(k), null, null, c.scale).value, v: c.byTrial.get(k), num: true} : {t: '', num: true})];
    row.cls = k === mark ? 'marked' : null;
    return row;
  })];
  const why = [...new Set(shown.map(k => t.text?.[k]).filter(Boolean))].slice(0, 5);
  const dialog = h('dialog', {id: 'trials', 'aria-labelledby': 'trials-title', onclose: () => dialog.remove(), onclick: e => { if (e.target === dialog) dialog.close(); }},
    h('header', null, h('h2', {id: 'trials-title'}, title), h('button', {type: 'button', id: 'trials-close', onclick: () => dialog.close(), 'aria-label': 'Close'}, 'Close')),
    places.length === 0
      ? h('p', null, `The trials of this cell are not listed in this page. ${m.data.shortened ?? ''} All of them are in the run's trials.jsonl.`)
      : h('p', {class: 'lead'}, plural(places.length, 'trial'), places.length > most ? `, the first ${most} are listed` : '',
        list(t.seq).length < t.of ? `; the page holds ${list(t.seq).length} of the run's ${t.of} trials` : '', '.'),
    why.length ? h('ul', {class: 'quiet'}, why.map(x => h('li', null, x))) : null,
    places.length ? table({name: 'raw-trials', title, rows}) : null);
  document.body.append(dialog);
  dialog.showModal();
  dialog.querySelector('tr.marked')?.scrollIntoView({block: 'center'});
}

export const showCell = (m, w, e, mark) => show(m, w, ofCell(m, w, e), `${e.name}: ${w.title}`, mark);
