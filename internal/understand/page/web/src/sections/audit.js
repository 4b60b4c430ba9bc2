import {h, list, section, absent, details} from '../dom.js';
import {plural} from '../numbers.js';
import {table} from '../table.js';
import {say, userMap} from '../words.js';

const kinds = [['mnt', 'mount'], ['pid', 'pid'], ['net', 'network'], ['ipc', 'ipc'], ['uts', 'uts'], ['user', 'user'], ['cgroup', 'cgroup'], ['time', 'time']];
const apart = ['uid', 'uid-map', 'gid-map', 'capabilities', 'seccomp-mode', 'no-new-privs', 'root', 'kernel', 'clock'];
const marks = {own: ['●', 'its own', 'own'], host: ['–', 'the host’s', 'quiet']};

function isolation(m, envs) {
  const rows = envs.map(a => {
    const e = m.byID.get(a.env), i = a.isolation ?? {};
    if (!Object.keys(i).length) return [e.name, {t: 'nothing was seen from inside', cls: 'quiet', span: kinds.length + 6}];
    return [e.name, ...kinds.map(([k, name]) => { const [t, title, cls] = marks[i[`ns.${k}`]] ?? ['?', 'not known', 'quiet']; return {t, v: i[`ns.${k}`] ?? '?', title: `${name} namespace: ${title}`, cls: `center ${cls}`}; }),
      {t: userMap(i), cls: 'nowrap'}, {t: say('capabilities', i.capabilities), num: true}, say('seccomp-mode', i['seccomp-mode']), say('no-new-privs', i['no-new-privs']), (i.root ?? '?').split(' ')[0] || '?',
      {cls: 'nowrap', t: `${i.kernel === m.data.run.host?.kernel ? "host's" : i.kernel || '?'}${i.clock === 'foreign' ? ', own clock' : ''}`}];
  });
  return table({name: 'isolation', title: 'Isolation, as the payload saw it from inside', rows: [['environment', ...kinds.map(([k, n]) => ({t: k, cls: 'center', title: `${n} namespace`})), {t: 'uid', title: 'the user inside, and who that is outside'}, {t: 'caps', num: true, title: 'effective capabilities'}, 'seccomp', {t: 'nnp', title: 'no_new_privs'}, 'root', 'kernel'], ...rows]});
}

// terms are the properties with one value, and those with several.
function terms(m, envs, properties) {
  const same = [], other = [];
  for (const p of properties) {
    if (p.kind === 'isolation' && (p.key.startsWith('ns.') || apart.includes(p.key))) continue;
    const by = new Map();
    for (const a of envs) {
      const v = (p.kind === 'isolation' ? a.isolation : a.configuration)?.[p.key];
      if (v) by.set(say(p.key, v), [...(by.get(say(p.key, v)) ?? []), m.nameOf(a.env)]);
    }
    if (by.size === 1 && [...by.values()][0].length > 1) same.push([p.key, [...by.keys()][0]]);
    else if (by.size > 1) for (const [v, who] of by) other.push([p.key, v, who.join(', ')]);
  }
  return {same, other};
}

export function audit(m) {
  const a = m.data.audit, shown = new Set(m.shown().map(e => e.id));
  const envs = list(a?.environments).filter(e => shown.has(e.env) && m.byID.has(e.env));
  if (!list(a?.environments).some(e => Object.keys(e.configuration ?? {}).length || Object.keys(e.isolation ?? {}).length)) return absent('Equivalence audit', 'nothing is known of the terms on which the environments ran');
  const {same, other} = terms(m, envs, list(a.properties)), pairs = list(a.pairs).filter(p => shown.has(p.a) && shown.has(p.b)), unequal = pairs.filter(p => list(p.beyond).length);
  return section('audit', 'Equal terms?', 'What each environment isolates, as the payload saw it, and what is configured differently. A difference in time may be one of these.',
    h('h3', null, 'Isolation'), h('p', {class: 'note'}, '● a namespace of its own, – the host’s, ? not known. uid: the user inside = who that is outside; caps: effective capabilities; nnp: no_new_privs.'), isolation(m, envs),
    h('h3', null, 'Comparisons'),
    h('p', null, pairs.length ? `${plural(pairs.length, 'comparison')} of one factor (for two engines: of the two most similar environments); ${unequal.length ? `${unequal.length} differ in more than that factor and what it brings with it.` : 'none differs in anything else known of both.'}` : 'No two environments differ in one factor only.'),
    unequal.length ? table({name: 'unequal', title: 'Comparisons that differ in more', rows: [['one', 'other', 'compared for', 'differs also in'],
      ...unequal.map(p => [m.nameOf(p.a), m.nameOf(p.b), list(p.factors).join(', ') || 'the same, twice', list(p.beyond).map(d => `${d.key}: ${say(d.key, d.a)} / ${say(d.key, d.b)}`).join('; ')])]}) : null,
    other.length ? details('differ', `Properties that differ (${new Set(other.map(o => o[0])).size})`, () => table({name: 'differ-table', title: 'Properties that differ', rows: [['property', 'value', 'environments'], ...other]})) : null,
    same.length ? details('alike', `Properties alike wherever they are known (${same.length})`, () => table({name: 'alike-table', title: 'Properties alike', rows: [['property', 'value'], ...same]})) : null);
}
