import {h, list, section, absent} from '../dom.js';
import {table} from '../table.js';

const words = {yes: ['● yes', 'good'], partial: ['◐ part', 'caution'], no: ['○ no', 'bad'], untried: ['? untried', 'quiet']};

function evidence(row, engine, c) {
  const dialog = h('dialog', {id: 'evidence', 'aria-labelledby': 'evidence-title', onclose: () => dialog.remove(), onclick: e => { if (e.target === dialog) dialog.close(); }},
    h('header', null, h('h2', {id: 'evidence-title'}, `${engine}: ${row.feature}`), h('button', {type: 'button', 'aria-label': 'Close', onclick: () => dialog.close()}, 'Close')),
    h('p', null, row.means ?? ''), h('p', null, h('strong', null, c.value), c.published ? ` (published: ${c.published})` : '', c.why ? `: ${c.why}` : '', c.lacking ? ` (can't be tried further here: ${c.lacking})` : ''),
    list(c.evidence).map(x => h('pre', {tabindex: 0}, x.command?.length ? `$ ${x.command.join(' ')}\n` : '', x.output, x.status ? `\nstatus ${x.status}` : '')));
  document.body.append(dialog);
  dialog.showModal();
}

export function features(m) {
  const f = m.data.features, engines = list(f?.engines), here = engines.filter(e => !e.missing);
  if (!f || !list(f.rows).length) return absent('Features', 'not tried in this run; plimsoll features -o DIR puts the table into it');
  const rows = [];
  let group = null;
  f.rows.forEach((r, i) => {
    if (r.group !== group) rows.push({head: group = r.group});
    rows.push([{t: r.feature, title: r.means}, ...here.map(e => {
      const c = r.cells?.[e.name];
      if (!c) return '';
      const [t, cls] = words[c.value] ?? [c.value, ''], differs = c.published && c.value !== 'untried' && c.published !== c.value;
      return {el: h('button', {type: 'button', class: `cell ${cls}`, id: `feature-${i}-${e.name}`, title: c.why, onclick: () => evidence(r, e.name, c)}, t, differs ? h('span', {class: 'published'}, ` [${c.published}]`) : null), v: c.value};
    })]);
  });
  const gone = engines.filter(e => e.missing);
  return section('features', 'Features', 'What each engine can do, each cell proved by trying it on this machine: a click shows how. In brackets and slanted the published value, where it is another.',
    here.length ? table({name: 'features-table', title: 'Features', rows: [['feature', ...here.map(e => ({t: e.name, title: e.version}))], ...rows], cls: 'features'}) : h('p', null, 'No engine could be tried.'),
    gone.length ? h('p', {class: 'note'}, `Not here: ${gone.map(e => `${e.name} (${e.missing}${e.fix ? `; ${e.fix}` : ''})`).join('; ')}.`) : null);
}
