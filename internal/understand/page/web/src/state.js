// What the reader has chosen, kept in the address's fragment so that a link
// shows the same. Absent is the default.

const listeners = [];
let params = read();

function read() {
  const hash = location.hash.slice(1);
  return new URLSearchParams(hash.includes('=') ? hash : '');
}

export const get = name => params.get(name);

// chosen is the list of a name, or null where all are.
export function chosen(name) {
  const v = params.get(name);
  return v == null ? null : v.split(',').filter(Boolean).map(decodeURIComponent);
}

// names lists what is set below a prefix.
export const names = prefix => [...params.keys()].filter(k => k.startsWith(prefix)).map(k => k.slice(prefix.length));

// set changes what is given; null takes it away.
export function set(changes) {
  for (const [k, v] of Object.entries(changes)) {
    if (v == null) params.delete(k);
    else params.set(k, Array.isArray(v) ? v.map(encodeURIComponent).join(',') : v);
  }
  const hash = params.toString();
  try {
    history.replaceState(null, '', hash ? `#${hash}` : location.pathname + location.search);
  } catch {
    location.hash = hash;
  }
  for (const f of listeners) f();
}

export const onchange = f => listeners.push(f);

addEventListener('hashchange', () => {
  const now = read();
  if (now.toString() === params.toString()) return;
  params = now;
  for (const f of listeners) f();
});
