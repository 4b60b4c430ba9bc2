// The data with what is looked up in them, and the reader's choice applied.
import {list} from './dom.js';
import {palette} from './colors.js';
import {plural} from './numbers.js';
import * as state from './state.js';

// known are the facts that stand for a level where none was asked for.
const known = ['client', 'runtime', 'storage', 'network', 'rootless', 'cgroup', 'seccomp', 'image'];

export class Model {
  constructor(data) {
    this.data = data;
    this.envs = list(data.envs).map((e, i) => ({...e, i, group: e.group || e.engine, name: e.name || e.id}));
    this.works = list(data.works).map((w, i) => ({...w, i, title: w.title || w.id, tables: list(w.tables), show: list(w.show)}));
    this.byID = new Map(this.envs.map(e => [e.id, e]));
    this.groups = [...new Set(this.envs.map(e => e.group))];
    this.factors = this.findFactors();
    this.looks = new Map();
  }

  // level of a factor: what was asked for, else what the engine says.
  level(e, factor) {
    return e.levels?.[factor] ?? (known.includes(factor) ? e.facts?.[factor] : undefined) ?? '–';
  }

  findFactors() {
    const names = new Set(known);
    for (const e of this.envs) for (const k of Object.keys(e.levels ?? {})) names.add(k);
    return [...names].map(name => ({name, levels: [...new Set(this.envs.filter(e => !e.baseline).map(e => this.level(e, name)))].sort()}))
      .filter(f => f.levels.length > 1 && f.levels.length <= 12);
  }

  // shown are the environments that the filters leave.
  shown() {
    const engines = state.chosen('engine');
    const levels = this.factors.map(f => [f.name, state.chosen(`f.${f.name}`)]).filter(([, l]) => l);
    return this.envs.filter(e => (!engines || engines.includes(e.group)) && (e.baseline || levels.every(([f, l]) => l.includes(this.level(e, f)))));
  }

  // work and table are those that the reader looks at.
  work() {
    return this.works.find(w => w.id === state.get('work')) ?? this.works.find(w => this.first(w)) ?? this.works[0];
  }

  table(w = this.work()) {
    return w && (w.tables.find(t => t.metric.id === state.get('metric')) ?? this.first(w));
  }

  // first is the metric that stands for a workload.
  first(w) {
    return w.tables.find(t => t.metric.id === w.first);
  }

  against(t, baseline) {
    return list(t?.against).find(a => a.baseline === baseline);
  }

  // baselines are those of a table, in their order; baseline the chosen one.
  baselines(t) {
    return list(t?.against).map(a => a.baseline);
  }

  baseline(t) {
    const all = this.baselines(t);
    return all.includes(state.get('base')) ? state.get('base') : all[0];
  }

  // ranked are the shown environments with a value, the best first.
  ranked(t, shown = this.shown()) {
    const here = new Set(shown.map(e => e.i)), listed = list(t?.ranking).filter(i => here.has(i));
    return listed.map(i => this.envs[i]);
  }

  // marks are what the rows of an environment are marked with: the isolation that it
  // lacks, and what users type for it.
  marks(e) {
    return this.data.answer?.marks?.[e.id] ?? {};
  }

  count(w, e) {
    return list(w.counts).find(c => c.env === e.id);
  }

  // failures says how many trials failed, in words.
  failures(w, e) {
    const c = this.count(w, e);
    return c && c.trials ? `${c.failed} of ${c.trials}` : '';
  }

  look(e, dark) {
    if (!this.looks.has(dark)) this.looks.set(dark, palette(this.envs, dark));
    return this.looks.get(dark)[e.i];
  }

  nameOf(id) {
    return this.byID.get(id)?.name ?? id ?? '';
  }

  // filtered says what the filters hide, or "".
  filtered() {
    const n = this.shown().length;
    return n < this.envs.length ? `${plural(n, 'environment')} of ${this.envs.length} shown: a filter is set` : '';
  }
}
