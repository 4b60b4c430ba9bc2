import {h, list, section, absent, details} from '../dom.js';
import {estimate, plural, scaleFor} from '../numbers.js';
import {table} from '../table.js';
import {levels, untested, without} from '../claims.js';
import {citation, cite, notAsked} from '../words.js';

const classes = {supported: 'good', contradicted: 'bad', inconclusive: 'caution', 'not-tested': 'quiet'};
const word = c => `${c.verdict === 'not-tested' ? 'not tested' : c.verdict}${c.partly ? ' in part' : ''}`;

// pair writes the estimate of a pair.
function pair(p) {
  if (!p?.estimate) return '';
  const {value, lo, hi} = p.estimate, scale = p.b ? {unit: '×', by: 1} : p.unit === 'percent' ? {unit: '%', by: 1} : scaleFor(p.unit, [value]), n = estimate(value, lo, hi, scale);
  return `${n.value} ${scale.unit} ${n.interval}`.trim();
}

function quoted(all) {
  const out = all.slice(0, 4).map(p => p.value == null ? p.text : [p.engine, p.variant && `(${p.variant})`, p.image, p.metric, p.value, p.unit].filter(x => x != null && x !== '').join(' '));
  return out.join('; ') + (all.length > 4 ? ` and ${all.length - 4} more` : '');
}

const side = s => s && `${s.env}, ${s.workload}, ${s.metric}`;

function pairsTable(c) {
  return table({name: `pairs-${c.id.replace(/\W+/g, '-')}`, title: `Pairs of ${c.id}`, rows: [['A', 'B', 'here', 'range claimed', 'blocks', 'verdict', 'reason'],
    ...list(c.pairs).slice(0, 60).map(p => [side(p.a), side(p.b) ?? '', pair(p), p.range, {t: p.blocks, num: true}, p.verdict, p.reason])]});
}

function source(key) {
  const s = citation(key);
  return s ? [`${cite(key)}: `, h('cite', null, s.title), `, ${s.venue}`, s.url ? [', ', h('a', {href: s.url, rel: 'noreferrer'}, s.url.replace('https://', ''))] : '', '.'] : key;
}

export function findings(m) {
  const all = list(m.data.findings?.claims);
  if (!all.length) return absent('Findings', 'the study makes no claims; the bundled studies of papers do');
  const count = v => all.filter(c => c.verdict === v).length, keys = [...new Set(all.flatMap(c => list(c.published).map(p => p.source)))];
  const rows = all.map(c => [
    h('div', null, h('code', null, c.id), h('p', null, c.says), list(c.pairs).length > 0 || c.reason ? details(`claim-${c.id.replace(/\W+/g, '-')}`, 'Evidence', () => [h('p', null, c.reason), list(c.differs).length ? h('p', null, `Not as in the paper, and judged all the same: ${c.differs.map(x => `${x.aspect}, ${x.here} (the paper: ${x.paper})`).join('; ')}.`) : null, c.why ? h('p', null, `Why? ${c.why}`) : null,
      ...list(c.answers).filter(a => a.verdict !== 'not-tested').map(a => h('p', null, `→ ${a.text}${a.decides ? ` (${pair(a.decides)})` : ''}`)),
      ...untested(list(c.answers)).map(s => h('p', null, `→ ${s}`)),
      list(c.without).length ? h('p', null, `Without ${without(c.without)}.`) : null, list(c.pairs).length ? pairsTable(c) : null]) : null),
    {el: h('span', {class: `badge ${classes[c.verdict] ?? ''}`}, word(c)), v: word(c)},
    {t: c.features?.tried ? `${c.features.equal} of ${plural(c.features.tried, 'cell')}${list(c.features.undecided).length ? `, ${c.features.undecided.length} undecided` : ''}` : pair(c.decides), cls: 'nowrap'},
    {el: h('span', {class: 'published'}, quoted(list(c.published))), v: quoted(list(c.published))},
  ]);
  rows.forEach((r, i) => { r[0] = {el: r[0], v: `${all[i].id}: ${all[i].says}`}; });
  return section('findings', 'Findings', `${['supported', 'contradicted', 'inconclusive', 'not-tested'].map(v => `${count(v)} ${v.replace('-', ' ')}`).join(', ')}. Here: the pair that decides, A over B or A alone, with its ${levels(all)} interval. Published numbers are slanted, quoted as they stand, and were measured on other machines.`,
    table({name: 'findings-table', title: 'Findings', rows: [['claim', 'verdict', 'here', 'published'], ...rows], cls: 'findings', first: false}),
    keys.length ? h('ul', {class: 'sources'}, keys.map(k => h('li', null, source(k)))) : null);
}

const three = v => v == null ? '' : String(Number(v.toFixed(2)));

// letters give each reason one, in the order in which they come.
function letters() {
  const texts = [];
  const of = text => { let i = texts.indexOf(text); if (i < 0) i = texts.push(text) - 1; return i < 26 ? String.fromCharCode(97 + i) : `${i + 1}`; };
  return {of, texts};
}

// estimators are those by which papers publish, in words.
const estimators = {mean: 'mean', 'mean-z': 'mean ± Z', 'geometric-mean': 'geometric mean', 'mean-without-largest': 'trimmed mean', median: 'median'};

function paper(m, t, i) {
  const scale = m.data.run.scale;
  const rows = [], apart = [], notes = letters(), byRow = new Map();
  for (const c of list(t.cells)) byRow.set(`${c.row}\n${c.unit}`, [...(byRow.get(`${c.row}\n${c.unit}`) ?? []), c]);
  const images = list(t.cells).some(c => c.image), same = list(t.cells).some(c => c.same);
  const plain = v => v == null ? '' : String(Math.abs(v) >= 100 ? Math.round(v) : Number(v.toPrecision(3)));
  for (const cells of byRow.values()) {
    const name = cells[0].row;
    if (cells.every(c => !c.here && (c.no_counterpart || c.missing === notAsked))) {
      if (!apart.includes(name)) apart.push(name);
      continue;
    }
    rows.push({head: `${name}${cells[0].unit ? `, ${cells[0].unit}` : ''}${cells[0].note ? ` (${cells[0].note})` : ''}`});
    for (const c of cells) {
      const n = c.here ? estimate(c.here.value, c.here.lo, c.here.hi, {by: 1}) : null, why = c.missing === notAsked && scale ? `at the scale ${scale} ${notAsked}` : c.missing || 'nothing to compare with it';
      rows.push([c.engine, ...(images ? [c.image ?? ''] : []), {el: h('span', {class: 'published'}, `${three(c.published)}${c.ci95 != null ? ` ± ${three(c.ci95)}` : ''}`), v: c.published, num: true, cls: 'theirs', title: c.from ?? (c.sd != null ? `standard deviation ${three(c.sd)}` : undefined)},
        ...(same ? [c.same ? {t: `${plain(c.same.value)}${c.same.ci95 != null ? ` ± ${plain(c.same.ci95)}` : ''}`, v: c.same.value, num: true, title: c.same.sd != null ? `standard deviation ${plain(c.same.sd)}` : undefined} : {t: '–', v: '', num: true}] : []),
        ...(n ? [{t: n.value, v: c.here.value, num: true}, {t: n.interval, num: true, cls: 'quiet'}, {t: c.n ?? '', num: true}, {t: m.nameOf(c.env), v: c.env, cls: 'quiet', title: c.env}] : [{t: '–', v: '', num: true}, {el: h('sup', {title: why}, notes.of(why)), v: why, cls: 'quiet'}, '', ''])]);
    }
  }
  const num = t => ({t, num: true});
  return [h('h3', null, `Compared with ${cite(t.source)}, ${t.table}${t.title ? `: ${t.title}` : ''}`),
    rows.length ? table({name: `paper-${i}`, title: `${cite(t.source)}, ${t.table}`, rows: [['engine', ...(images ? ['image'] : []), {t: `${cite(t.source)}, ${estimators[t.statistic] ?? 'mean'}`, cls: 'theirs', num: true}, ...(same ? [num(`here, ${estimators[t.statistic]}`)] : []), num('here, median'), num('95 %'), num('n'), 'in'], ...rows], cls: 'paper'}) : null,
    notes.texts.length ? h('ul', {class: 'letters'}, notes.texts.map(x => h('li', null, h('sup', null, notes.of(x)), ` ${x}`))) : null,
    list(t.apart).length ? h('ul', {class: 'note'}, list(t.apart).map(a => h('li', null, `${[a.row, a.image].filter(Boolean).join(', ')}: by disjoint intervals ${a.theirs} of ${a.pairs} pairs of engines differ there and ${a.ours} here${list(a.otherwise).length ? `; not alike: ${a.otherwise.join(', ')}` : ''}.`))) : null,
    apart.length ? h('p', {class: 'note'}, `Nothing to compare with ${apart.slice(0, 6).join(', ')}${apart.length > 6 ? ` and ${apart.length - 6} more` : ''}: the study${scale ? ` at the scale ${scale}` : ''} has no counterpart.`) : null];
}

const ways = {same: 'the same way', other: 'the other way', open: 'open'};

// ratios are those that were published, as far as there is one of ours.
function ratios(t, i) {
  const all = list(t.ratios);
  if (!all.length) return null;
  const num = e => estimate(e.value, e.lo, e.hi, {by: 1}), heads = new Map(), count = w => all.filter(r => r.way === w).length;
  for (const r of all) {
    const head = `${r.row}: ${r.pair.of} over ${r.pair.to}`;
    heads.set(head, [...(heads.get(head) ?? []), r]);
  }
  const rows = [];
  for (const [head, of] of heads) {
    rows.push({head});
    for (const r of of) {
      const there = num(r.theirs), here = num(r.here);
      rows.push([r.same ?? '', r.image ?? '', {el: h('span', {class: 'published'}, `${there.value} ×`), v: r.theirs.value, num: true, cls: 'theirs'}, {t: there.interval, num: true, cls: 'quiet'},
        {t: `${here.value} ×`, v: r.here.value, num: true}, {t: here.interval, num: true, cls: 'quiet'}, {t: r.blocks ?? '', num: true}, ways[r.way] ?? '']);
    }
  }
  const head = t => ({t, num: true});
  return details(`ratios-${i}`, `Ratios there and here: ${count('same')} go the same way, ${count('other')} the other way, ${count('open')} are open`, () => [
    table({name: `paper-ratios-${i}`, title: `Ratios of ${cite(t.source)}, ${t.table}, there and here`, cls: 'paper', rows: [['', 'image', {t: cite(t.source), cls: 'theirs', num: true}, head('95 %'), head('here'), head('95 %'), head('blocks'), ''], ...rows]})]);
}

export function papers(m) {
  const all = list(m.data.papers);
  if (!all.length) return absent('Published tables', 'the study compares its numbers with none; the bundled studies of papers do');
  return section('papers', 'Published next to ours', 'What is slanted is published, a mean with the half-width of its interval, measured by others on other machines; what is upright was measured here, a median with its 95 % interval. What compares are ratios and directions.',
    all.map((t, i) => [paper(m, t, i), ratios(t, i)]), h('ul', {class: 'sources'}, [...new Set(all.map(t => t.source))].map(k => h('li', null, source(k)))));
}
