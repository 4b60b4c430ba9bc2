// A run that goes on: the strip above the report's charts.
'use strict';
(() => {
  const {h, table, numbers, figure, tip, time, share, num, main, report, clean} = window.served;
  const id = location.pathname.split('/').pop();
  const cells = new Map(); // by environment and workload
  const key = c => JSON.stringify([c.workload, c.env]);
  const maxTables = 8;
  // Colours that the colour-blind can tell apart (Okabe and Ito, 2008).
  const colours = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9'], dashes = ['solid', 'dashed', 'dotted'];

  const bar = h('progress', {'aria-label': 'Trials done'});
  const facts = h('dl');
  const say = h('p', {role: 'status'});
  const medians = h('div', {class: 'medians'});
  const strip = h('section', {id: 'live', class: 'live', tabindex: -1, 'aria-labelledby': 'live-title'}, h('h2', {id: 'live-title'}, 'This run, live'), say, bar, facts, medians);
  main().parentElement.before(strip);

  const fact = (what, value) => value !== '' && value != null && h('div', null, h('dt', null, what), h('dd', null, value));

  let left = 0, heard = 0, state;

  function head() {
    const s = state;
    if (!s) return;
    if (s.total) { bar.max = s.total; bar.value = Math.min(s.done, s.total); } else bar.removeAttribute('value');
    bar.hidden = s.status !== 'running';
    // Before the first trial that counts there is nothing to judge.
    const counted = [...cells.values()].some(c => c.n || c.failed);
    const words = s.status === 'running' ? counted ? '' : 'Warming up: no trial counts yet.' : s.killed ? 'The run was killed: it is interrupted, and plimsoll run --resume continues it.' : s.status === 'done' ? 'The run is done.' : 'The run was interrupted; plimsoll run --resume continues it.';
    if (say.textContent !== words) say.textContent = words;
    const rest = left - (performance.now() - heard) * 1e6;
    const now = s.now, load = s.host;
    facts.replaceChildren(...[
      fact('Trials', `${s.done}${s.total ? ` of ${s.at_most ? 'at most ' : ''}${s.total}` : ''}`),
      fact('Failed', String(s.failed)),
      fact('Time left', s.status === 'running' && left > 0 ? `${s.at_most ? 'at most ' : 'about '}${time(Math.max(rest, 1e9))}` : ''),
      fact('Now', now ? `${now.env}, ${now.workload}` : ''),
      fact(now?.warmup ? 'Warm-up block' : 'Block', now ? `${now.block} of ${s.at_most && !now.warmup ? 'at most ' : ''}${now.blocks}` : ''),
      fact('Processors busy', load ? share(load.busy) : ''),
      fact('Threads waiting', load?.waiting != null ? `${share(load.waiting)} of the time` : ''),
      fact('Stolen', load?.steal > 0 ? share(load.steal) : ''),
      fact('Problem', s.problem ?? ''),
    ].filter(Boolean));
  }

  function works() {
    const by = new Map();
    for (const c of cells.values()) {
      if (!by.has(c.workload)) by.set(c.workload, []);
      by.get(c.workload).push(c);
    }
    for (const list of by.values()) list.sort((a, b) => (a.median?.value ?? Infinity) - (b.median?.value ?? Infinity) || a.env.localeCompare(b.env));
    return by;
  }

  // precision is the interval's half, as a share of the median; above all of it a
  // number says nothing.
  function precision(m) {
    if (m?.lo == null || !(m.value > 0)) return '';
    const half = (m.hi - m.lo) / 2 / m.value;
    return half > 1 ? 'over ± 100 %' : `± ${share(half)}`;
  }

  function medianTable(work, list, i) {
    const metric = list.find(c => c.n)?.metric ?? list[0].metric, scale = numbers.scaleFor(metric.unit, list.map(c => c.median?.value).filter(v => v != null));
    return table({name: `live-${i}`, title: `${work}: ${metric.title}`, save: false, rows: [
      ['Environment', `Median ${metric.title}${scale.unit ? `, ${scale.unit}` : ''}`, '95 % interval', 'Known to', 'Values', 'Trials', 'Failed'],
      ...list.map(c => {
        const e = numbers.estimate(c.median?.value, c.median?.lo, c.median?.hi, scale);
        return [c.env, num(e.value), num(e.interval), num(precision(c.median)), num(c.n), num(c.planned ? `${c.done} of ${c.planned}` : c.done), num(c.failed)];
      })]});
  }

  // narrowing is how far each interval's half is from its median, by the number of
  // values behind it.
  function narrowing(work, list, i) {
    const lines = list.map(c => ({env: c.env, at: c.course.filter(m => m.median?.lo != null && m.median.value > 0).map(m => [m.n, 100 * (m.median.hi - m.median.lo) / 2 / m.median.value])})).filter(l => l.at.length > 1);
    if (!lines.length) return null;
    return figure({
      name: `live-${i}`, title: `How well the medians are known: ${work}`, height: 260,
      describe: () => lines.map(l => `${l.env}: ± ${l.at.at(-1)[1].toFixed(1)} % after ${l.at.at(-1)[0]} values`).slice(0, 12).join('; '),
      table: () => [['Environment', 'Values', 'Half-width of the interval, %'], ...lines.flatMap(l => l.at.map(([n, w]) => [l.env, num(n, n), num(w.toFixed(2), w)]))],
      option: () => ({
        grid: {left: 60, right: 20, top: 40, bottom: 50}, legend: {top: 0}, tooltip: {trigger: 'item', formatter: p => tip(p.seriesName, [['Values', p.value[0]], ['Known to', `± ${p.value[1].toFixed(1)} %`]])},
        color: colours,
        xAxis: {type: 'value', name: 'values', nameLocation: 'middle', nameGap: 28, min: 0, max: 'dataMax'},
        yAxis: {type: 'value', name: '± %', min: 0},
        series: lines.map((l, k) => ({type: 'line', name: l.env, data: l.at, symbolSize: 5, lineStyle: {type: dashes[Math.floor(k / colours.length) % dashes.length]}})),
      }),
    });
  }

  function draw() {
    const by = [...works()];
    const nodes = by.slice(0, maxTables).flatMap(([work, list], i) => [h('h3', null, work), medianTable(work, list, i), narrowing(work, list, i)]).filter(Boolean);
    if (by.length > maxTables) nodes.push(h('p', null, `${by.length - maxTables} more workloads are in the charts below.`));
    const focus = document.activeElement?.id;
    medians.replaceChildren(...nodes);
    if (focus && document.activeElement?.id !== focus) document.getElementById(focus)?.focus({preventScroll: true});
  }

  let drawing = 0, fetching = false, again = false;
  function soon() {
    if (!drawing) drawing = setTimeout(() => { drawing = 0; if (!document.hidden) requestAnimationFrame(draw); }, 1000);
  }

  async function charts() {
    if (!report.update) return;
    again = fetching; // what is under way may be of before the last change
    if (fetching) return;
    fetching = true;
    try {
      await report.ready;
      const answer = await fetch(`/api/runs/${id}`);
      if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`);
      report.update(await answer.json()); // which cleans it
    } catch (err) {
      console.warn(err.message);
    } finally {
      fetching = false;
      if (again) charts();
    }
  }

  function take(e) {
    if (e.whole) cells.clear();
    for (const c of e.cells) {
      const k = key(c), old = cells.get(k);
      c.course ??= old && old.metric.id === c.metric.id ? old.course : [];
      const last = c.course.at(-1);
      if (c.median && !e.whole && c.n > 1.25 * (last?.n ?? 0)) c.course.push({n: c.n, median: c.median});
      cells.set(k, c);
    }
    state = e;
    if (e.left_ns) { left = e.left_ns; heard = performance.now(); } else left = 0;
    head();
    if (e.cells.length || e.whole) soon();
    if (e.charts) charts();
  }

  let stream, over = false;
  function open() {
    if (stream || over || document.hidden) return;
    stream = new EventSource(`/api/runs/${id}/events`);
    stream.addEventListener('live', e => take(clean(JSON.parse(e.data))));
    stream.addEventListener('end', e => {
      shut();
      if (JSON.parse(e.data).closing) { say.textContent = 'plimsoll serve has ended.'; return; }
      over = true;
      charts();
    });
  }
  function shut() {
    stream?.close();
    stream = undefined;
  }
  // Who does not look at the page costs the run nothing.
  document.addEventListener('visibilitychange', () => document.hidden ? shut() : open());
  setInterval(() => { if (state?.status === 'running' && !document.hidden) head(); }, 1000);
  open();
})();
