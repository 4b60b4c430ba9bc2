// What a container printed may hold anything: terminal sequences, control
// characters, and signs that turn the direction of writing.
const escapes = /\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[@-Z\\-_]?/g;
const controls = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;
const formats = /[\p{Cf}\p{Co}]/gu;
const most = 20_000;

// clean makes a text from outside fit to be shown; line ends stay.
export function clean(s) {
  if (/^[\x20-\x7e]*$/.test(s) && s.length <= most) return s;
  s = s.slice(0, 4 * most).replace(/\r\n?/g, '\n').replace(escapes, '').replace(controls, ' ').replace(formats, '');
  return s.length > most ? `${s.slice(0, most)}…` : s;
}

// cleanAll cleans each text of data in place. Lists of numbers, which are
// nearly all of it, are passed over.
export function cleanAll(x) {
  if (typeof x === 'string') return clean(x);
  if (Array.isArray(x)) {
    if (typeof x[0] !== 'number') for (let i = 0; i < x.length; i++) if (typeof x[i] !== 'number') x[i] = cleanAll(x[i]);
  } else if (x && typeof x === 'object') {
    for (const k of Object.keys(x)) {
      const v = cleanAll(x[k]), key = clean(k);
      if (key !== k) delete x[k];
      x[key] = v;
    }
  }
  return x;
}
