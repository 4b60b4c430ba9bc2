// Words of the field, for people.
import {amount} from './numbers.js';
import {sources} from './sources.js';

// marks of a ratio: none where it differs.
export const marks = {equal: ' =', 'cannot-tell': ' ~'};
export const verdicts = {differs: 'differs', equal: 'equal', 'cannot-tell': 'cannot tell'};
// notAsked is why a cell is missing that no part of a study has.
export const notAsked = 'the study does not ask for it';

// times is the title of how many times the first, or times worse where more is better.
export const times = m => m.better === 'higher' ? '× worse' : '× first';

export const better = m => m.better === 'higher' ? 'higher is better' : 'lower is better';

// cite names a study by its authors and year.
export function cite(key) {
  const s = sources().find(x => x.key === key);
  return s ? `${s.authors.length > 2 ? `${s.authors[0]} et al.` : s.authors.join(' and ')} ${s.year}` : key;
}

export const citation = key => sources().find(x => x.key === key);

const popcount = hex => [...hex].reduce((n, c) => n + (parseInt(c, 16).toString(2).match(/1/g)?.length ?? 0), 0);

// say puts a property's value into words.
export function say(key, value) {
  if (value == null || value === '') return '?';
  const words = {'seccomp-mode': {0: 'off', 1: 'strict', 2: 'filter'}, 'no-new-privs': {0: 'no', 1: 'yes'}}[key];
  if (words?.[value]) return words[value];
  if ((key === 'capabilities' || key === 'cap-bounding') && /^[0-9a-f]+$/i.test(value)) return String(popcount(value));
  if (key === 'uid-map' || key === 'gid-map') return value.trim().split(/\s+/).join(' ') === '0 0 4294967295' ? "the host's" : value.replaceAll(';', ' and');
  if (key === 'memory-limit' && /^\d+$/.test(value)) return Number(value) >= 2 ** 62 ? 'none' : amount(Number(value), 'bytes');
  return value;
}

// userMap says who the user inside is outside.
export function userMap(inside) {
  const uid = (inside.uid ?? '').split(':')[0];
  if (!uid) return '?';
  const line = (inside['uid-map'] ?? '').split(';').map(l => l.trim().split(/\s+/)).find(f => f.length === 3 && f[0] === uid);
  return line ? `${uid} = ${line[1]}` : uid;
}
