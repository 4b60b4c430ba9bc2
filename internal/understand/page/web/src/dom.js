// h makes an element. Attributes are set by name, on… are listeners, vars are
// CSS custom properties. Children that are no nodes become text: nothing that
// comes from data is ever parsed.
export function h(tag, attrs, ...children) {
  const el = document.createElement(tag);
  for (const [k, v] of Object.entries(attrs ?? {})) {
    if (v == null || v === false) continue;
    if (k === 'vars') for (const [name, value] of Object.entries(v)) el.style.setProperty(name, value);
    else if (k.startsWith('on')) el.addEventListener(k.slice(2), v);
    else el.setAttribute(k, v === true ? '' : v);
  }
  el.append(...children.flat(Infinity).filter(c => c != null && c !== false && c !== ''));
  return el;
}

// section is a part of the page with a heading, a sentence that says how to
// read it, and what it shows.
export function section(id, title, lead, ...children) {
  return h('section', {id, tabindex: -1, 'aria-labelledby': `${id}-title`, 'data-title': title},
    h('h2', {id: `${id}-title`}, title), lead && h('p', {class: 'lead'}, lead), ...children);
}

// absent says what the page has nothing of, and what would give it.
export const absent = (title, why) => ({absent: title, why});

// choice is a labelled select; options are [value, text].
export function choice(id, label, options, value, onchange) {
  const select = h('select', {id, onchange: e => onchange(e.target.value)},
    options.map(([v, text]) => h('option', {value: v, selected: v === value}, text)));
  return h('label', {class: 'choice', for: id}, h('span', null, label), select);
}

// segments are a few buttons of which one is pressed.
export function segments(id, label, options, value, onchange) {
  return h('div', {class: 'segments', role: 'group', 'aria-label': label},
    options.map(([v, text]) => h('button', {id: `${id}-${v}`, type: 'button', 'aria-pressed': String(v === value), onclick: () => onchange(v)}, text)));
}

// save hands a file to the browser.
export function save(name, type, content) {
  const url = content instanceof URL ? content.href : URL.createObjectURL(new Blob([content], {type}));
  const a = h('a', {href: url, download: name});
  document.body.append(a);
  a.click();
  a.remove();
  if (!(content instanceof URL)) setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

// details is a part that is folded away; it keeps its state by its id. make gives
// what is in it, when it is opened first: much of a page never is.
export function details(id, title, make) {
  const el = h('details', {id}, h('summary', null, title));
  let made = false;
  el.addEventListener('toggle', () => {
    if (made || !el.open) return;
    made = true;
    el.append(...[make()].flat().filter(Boolean));
  });
  return el;
}

export const list = x => x ?? [];
