// The page's beginning: where the data come from, and what further scripts may
// use: plimsoll.show, plimsoll.update and plimsoll.chart.
import {chart, figure} from './chart.js';
import {cleanAll} from './clean.js';
import {table} from './table.js';
import {section, h} from './dom.js';
import {Model} from './model.js';
import {chrome, complain, render} from './page.js';
import * as numbers from './numbers.js';
import * as state from './state.js';
import * as themes from './theme.js';

let model;
let asked = false;

// soon draws once for however many changes.
function soon() {
  if (asked || !model) return;
  asked = true;
  requestAnimationFrame(() => {
    asked = false;
    render(model);
  });
}

// show draws data; filters that the address holds apply.
function show(data) {
  model = new Model(cleanAll(data));
  render(model);
}

// update draws new data of the same run; what the reader has chosen stays.
function update(data) {
  model = new Model(cleanAll(data));
  soon();
}

async function unpack(text) {
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).json();
}

async function begin() {
  chrome();
  const embedded = document.getElementById('data')?.textContent.trim(), from = document.body.dataset.src;
  try {
    if (embedded) show(await unpack(embedded));
    else if (from) {
      const answer = await fetch(from);
      if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`);
      show(await answer.json());
    }
  } catch (err) {
    console.error(err);
    complain(`The data of this page could not be read: ${err.message}`);
  }
}

state.onchange(soon);
themes.onchange(soon);
window.plimsoll = {show, update, chart, figure, table, section, h, numbers, state, theme: themes.theme, get data() { return model?.data; }};
window.plimsoll.ready = begin();
