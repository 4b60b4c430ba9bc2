// A chart with all that belongs to it: title, accessible name, the same numbers
// as a table, and buttons that save it.
import {echarts} from './echarts.js';
import {h, save} from './dom.js';
import {complete, headroom, titled} from './options.js';
import {table, csv} from './table.js';
import * as themes from './theme.js';

const charts = new Map(); // by element

const value = (x, ...args) => typeof x === 'function' ? x(...args) : x;

class Chart {
  constructor(element) {
    this.element = element;
    this.visible = false;
    this.note = h('p', {class: 'note'});
    this.canvas = h('div', {class: 'canvas', role: 'img'});
    this.caption = h('figcaption');
    this.below = h('div', {class: 'below', hidden: true});
    this.buttons = h('div', {class: 'buttons'});
    element.classList.add('chart');
    element.replaceChildren(this.caption, this.note, this.canvas, this.buttons, this.below);
    new IntersectionObserver(seen => {
      this.visible = seen.at(-1).isIntersecting;
      if (this.visible && this.stale) this.draw();
    }, {rootMargin: '200px'}).observe(this.canvas);
    new ResizeObserver(() => requestAnimationFrame(() => this.resize())).observe(this.canvas);
  }

  update(spec) {
    this.spec = spec;
    this.caption.replaceChildren(spec.title ?? '');
    this.note.replaceChildren(spec.note ?? '');
    this.canvas.setAttribute('aria-label', this.describe());
    this.element.dataset.chart = spec.name;
    if (!this.buttons.firstChild) this.addButtons(spec.name);
    if (!this.below.hidden) this.showTable();
    this.redraw();
  }

  describe() {
    return [this.spec.title, value(this.spec.describe)].filter(Boolean).join('. ');
  }

  addButtons(name) {
    const button = (id, text, title, onclick, more) => h('button', {id: `${name}-${id}`, type: 'button', title, 'aria-label': title, onclick, ...more}, text);
    const title = () => this.spec.title ?? name;
    this.toggle = button('table', 'Table', `Show the numbers of “${title()}” as a table`, () => {
      this.below.hidden = !this.below.hidden;
      this.toggle.setAttribute('aria-expanded', String(!this.below.hidden));
      if (!this.below.hidden) this.showTable();
    }, {'aria-expanded': 'false'});
    this.buttons.append(...[
      this.spec.table && this.toggle,
      button('svg', 'SVG', `Save “${title()}” as SVG`, () => save(`${name}.svg`, 'image/svg+xml', this.svg())),
      button('png', 'PNG', `Save “${title()}” as PNG`, () => save(`${name}.png`, 'image/png', new URL(this.png()))),
      this.spec.table && button('csv', 'CSV', `Save the numbers of “${title()}” as CSV`, () => save(`${name}.csv`, 'text/csv', csv(this.spec.table()))),
    ].filter(Boolean));
  }

  showTable() {
    this.below.replaceChildren(table({name: `${this.spec.name}-numbers`, title: this.spec.title, rows: this.spec.table(), save: false}));
  }

  redraw() {
    this.stale = true;
    this.canvas.style.height = `${Math.round(value(this.spec.height, this.canvas.clientWidth) ?? 360)}px`;
    if (this.visible) this.draw();
  }

  option() {
    const t = {...themes.theme(), width: this.canvas.clientWidth || 800};
    return complete(this.spec.option(t), t, this.describe());
  }

  draw() {
    if (this.canvas.clientWidth === 0) return;
    this.stale = false;
    this.width = this.canvas.clientWidth;
    if (!this.instance) this.open();
    this.instance.resize();
    this.instance.setOption(this.option(), {notMerge: true});
    this.spec.drawn?.(this.instance);
    this.element.dataset.drawn = 'true';
  }

  open() {
    this.instance = echarts.init(this.canvas, null, {renderer: 'canvas'});
    this.instance.on('click', p => this.spec.click?.(p));
    this.instance.on('brushEnd', p => this.spec.brush?.(p));
    // A name that is cut short is told whole.
    this.instance.on('mouseover', p => { if (p.componentType?.endsWith('Axis')) this.canvas.title = String(p.value ?? ''); });
    this.instance.on('mouseout', p => { if (p.componentType?.endsWith('Axis')) this.canvas.removeAttribute('title'); });
  }

  resize() {
    if (this.spec && this.canvas.clientWidth !== this.width) this.redraw();
  }

  // apart draws once more, with the title, where it is not seen.
  apart(opts, get) {
    const t = {...themes.theme(), width: this.canvas.clientWidth || 800};
    const option = this.option();
    const at = echarts.init(opts.ssr ? null : document.createElement('div'), null, {width: t.width, height: this.canvas.clientHeight + headroom(option, t), ...opts});
    at.setOption({...titled(option, this.spec.title ?? '', t), backgroundColor: t.back});
    const out = get(at);
    at.dispose();
    return out;
  }

  svg() {
    return this.apart({renderer: 'svg', ssr: true}, at => at.renderToSVGString());
  }

  png() {
    return this.apart({renderer: 'canvas', devicePixelRatio: 2}, at => at.getDataURL({type: 'png', pixelRatio: 2}));
  }
}

// chart draws into an element, or draws what is there anew.
//
//   name      of files and ids
//   title     a heading
//   note      what its marks stand for
//   describe  the main numbers in a sentence, for who does not see it
//   option    (theme) => an ECharts option; theme has colours, font and width
//   table     () => rows, the first of them the head
//   height    in pixels, or (width) => pixels
//   click     what to do with a click on a mark
export function chart(element, spec) {
  let c = charts.get(element);
  if (!c) charts.set(element, c = new Chart(element));
  c.update(spec);
  return c;
}

const figures = new Map(); // by name

// figure is a chart that stays the same element when a page is made anew.
export function figure(spec) {
  let el = figures.get(spec.name);
  if (!el) figures.set(spec.name, el = h('figure', {id: `chart-${spec.name}`}));
  chart(el, spec);
  return el;
}

themes.onchange(() => { for (const [el, c] of charts) if (el.isConnected) c.redraw(); });
addEventListener('beforeprint', () => { for (const [el, c] of charts) if (el.isConnected) c.draw(); });
