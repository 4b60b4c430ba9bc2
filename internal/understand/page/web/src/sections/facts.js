import {h, list, section, details} from '../dom.js';
import {amount, plural} from '../numbers.js';
import {table} from '../table.js';

const pairs = o => Object.entries(o ?? {}).sort(([a], [b]) => a < b ? -1 : 1);

function environment(e) {
  return details(`env-${e.i}`, e.name, () => [h('p', {class: 'note'}, `${e.id}${e.clock === 'foreign' ? ', with a clock of its own' : ''}${e.unverified ? '; it, or a level of it, was never run on the real system' : ''}`),
    table({name: `env-${e.i}-facts`, title: `Facts of ${e.name}`, rows: [['what', 'asked for', 'in force'],
      ...[...new Set([...pairs(e.levels), ...pairs(e.facts)].map(([k]) => k))].map(k => [k, e.levels?.[k] ?? '', e.facts?.[k] ?? ''])]})]);
}

export function facts(m) {
  const images = list(m.data.run.images), host = m.data.run.host ?? {};
  return section('facts', 'Environments and machine', 'What was asked for, and what each engine itself says is in force.',
    m.shown().map(environment),
    images.length ? details('images', `Images (${images.length})`, () => table({name: 'images-table', title: 'Images', rows: [['image', 'digest', 'content', 'unpacked', 'made of'],
      ...images.map(i => [i.name, {el: h('code', null, i.digest), v: i.digest}, {el: h('code', null, i.tree), v: i.tree}, {t: i.bytes ? amount(i.bytes, 'bytes') : '', v: i.bytes, num: true}, pairs(i.facts).map(([k, v]) => `${k} ${v}`).join(', ')])]})) : null,
    details('host', 'Machine', () => table({name: 'host-table', title: 'Machine', rows: [['what', 'value'],
      ...pairs(host).filter(([, v]) => typeof v !== 'object').map(([k, v]) => [k, k === 'memory_bytes' ? {t: amount(v, 'bytes'), v} : String(v)]), ...pairs(host.more)]})));
}

// seed is read from the command: a number of 64 bits is none in JavaScript.
const seed = r => /--seed (\d+)/.exec(r.repeat ?? '')?.[1] ?? String(r.protocol?.seed ?? '');

export function repeat(m) {
  const r = m.data.run, p = r.protocol ?? {};
  const copy = h('button', {type: 'button', id: 'copy', onclick: () => navigator.clipboard?.writeText(r.repeat).then(() => { copy.textContent = 'Copied'; }, () => { copy.textContent = 'Select it and copy by hand'; })}, 'Copy');
  return section('repeat', 'How to repeat it', null,
    r.repeat ? h('div', {class: 'command'}, h('pre', {tabindex: 0, 'aria-label': 'The command that measures the same again'}, r.repeat), copy)
      : h('p', null, `These numbers were imported${r.imported ? ` (${r.imported.format}, ${list(r.imported.files).join(', ')})` : ''}: only the program that measured them can repeat them.`),
    h('dl', {class: 'facts'},
      h('dt', null, 'Seed'), h('dd', null, seed(r)), h('dt', null, 'Order'), h('dd', null, `${p.order ?? ''}${p.algorithm ? `, ${p.algorithm}` : ''}`),
      p.plan ? [h('dt', null, 'Plan'), h('dd', null, h('code', null, p.plan))] : [],
      h('dt', null, 'Tool'), h('dd', null, ['plimsoll', r.tool?.version, r.tool?.commit, r.tool?.go].filter(Boolean).join(' '), r.tool?.probe ? [', probe ', h('code', null, r.tool.probe)] : '')),
    h('p', null, 'The study as it was read is in the run’s run.json, every trial in trials.jsonl; plimsoll report DIR prints these numbers again as text, Markdown, CSV, JSON or LaTeX.'),
    list(r.looks).length ? h('p', {class: 'note'}, `The number of blocks was left open; ${plural(r.looks.length, 'look')} decided it.`) : null);
}
