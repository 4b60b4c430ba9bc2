// The history of metrics over many runs, with the changes that were found.
'use strict';
(() => {
  const {h, table, numbers, figure, tip, get, date, num, select, ask, complain, main} = window.served;
  const q = new URLSearchParams(location.search);
  const maxFigures = 12;

  const name = s => `${s.workload}: ${s.metric.title} in ${s.env}`;

  // filters of the address, by factor
  const filters = () => new Map(q.getAll('filter').map(f => f.split(/=(.*)/s).slice(0, 2)));
  function filter(factor, value) {
    const all = filters();
    if (value) all.set(factor, value); else all.delete(factor);
    q.delete('filter');
    for (const [k, v] of all) q.append('filter', `${k}=${v}`);
    location.search = q.toString();
  }

  function form(index, all) {
    const series = (all?.histories ?? []).flatMap(x => x.series), now = filters();
    const choice = (factor, label, values) => {
      const options = [...new Set([...values, now.get(factor)].filter(Boolean))].sort();
      return select(factor, label, [['', 'all that a report shows'], ...options.map(v => [v, v])], now.get(factor) ?? '', v => filter(factor, v));
    };
    main().append(h('div', {class: 'ask', role: 'group', 'aria-label': 'What is shown'},
      select('dir', 'Folder', [['', 'all'], ...index.folders.map(f => [f.id, f.name])], q.get('dir') ?? '', dir => ask({dir})),
      choice('workload', 'Workload', series.map(s => s.workload)),
      choice('metric', 'Metric', [...series.map(s => s.metric.id), 'startup', 'create', 'start', 'shutdown', 'removal', 'whole']),
      choice('environment', 'Environment', series.map(s => s.env)),
      select('against', 'Divided by', [['', 'the baseline that most runs have'], ['native', 'native'], ['floor', 'floor'], ['host', 'host'], ['none', 'nothing: absolute values']], q.get('against') ?? '', against => ask({against}))));
  }

  function course(x, s, i, k) {
    const changes = x.changes.filter(c => c.series === k), found = s.points.map((p, at) => ({p, at})).filter(o => o.p.value != null);
    const scale = s.against ? {unit: `× ${s.against}`, by: 1} : numbers.scaleFor(s.metric.unit, found.map(o => o.p.value));
    const v = y => y == null ? null : y / scale.by;
    const labels = x.runs.map(r => date(r.started));
    return figure({
      name: `history-${i}-${k}`, title: name(s), height: 240,
      describe: () => `${found.length} runs; ${changes.length ? changes.map(c => `${c.direction} since ${x.runs[c.after].dir}, × ${c.ratio.value.toPrecision(3)}`).join('; ') : 'no change'}`,
      table: () => [['Run', 'Started', `Value${scale.unit ? `, ${scale.unit}` : ''}`, 'from', 'to', 'Why there is none'],
        ...s.points.map((p, at) => [x.runs[at].dir, labels[at], num(v(p.value)?.toPrecision(4), v(p.value)), num(v(p.lo)?.toPrecision(4), v(p.lo)), num(v(p.hi)?.toPrecision(4), v(p.hi)), p.missing ?? ''])],
      option: t => ({
        grid: {left: 70, right: 30, top: 30, bottom: 50}, tooltip: {trigger: 'axis', formatter: marks => {
          const at = marks[0].dataIndex, p = s.points[at];
          return tip(`${x.runs[at].dir}, ${labels[at]}`, [[scale.unit || 'Value', v(p.value)?.toPrecision(4)], ['95 % interval', p.lo == null ? '' : `[${v(p.lo).toPrecision(4)}, ${v(p.hi).toPrecision(4)}]`], ['Why there is none', p.missing], ['plimsoll', x.runs[at].tool]]);
        }},
        xAxis: {type: 'category', data: labels},
        yAxis: {type: 'value', scale: true, name: scale.unit},
        series: [
          {type: 'line', name: 'lower end', stack: 'interval', silent: true, showSymbol: false, lineStyle: {opacity: 0}, data: s.points.map(p => v(p.lo)), tooltip: {show: false}},
          {type: 'line', name: 'interval', stack: 'interval', silent: true, showSymbol: false, lineStyle: {opacity: 0}, areaStyle: {color: t.accent, opacity: 0.2}, data: s.points.map(p => p.lo == null || p.hi == null ? null : v(p.hi - p.lo)), tooltip: {show: false}},
          {type: 'line', name: name(s), data: s.points.map(p => v(p.value)), symbolSize: 7, lineStyle: {color: t.accent}, itemStyle: {color: t.accent},
            markLine: {silent: true, symbol: 'none', lineStyle: {color: t.text, type: 'dashed'}, label: {formatter: m => m.name, color: t.text}, data: changes.map(c => ({name: c.direction, xAxis: c.after}))}},
          ...s.regimes.map(r => ({type: 'line', silent: true, showSymbol: false, tooltip: {show: false}, lineStyle: {color: t.muted, width: 2}, data: labels.map((_, at) => at >= r.first && at <= r.last ? v(r.level.value) : null)})),
        ],
      }),
    });
  }

  function show(all, index) {
    const by = new Map(index.runs.map(r => [r.run, r.id]));
    const run = r => ({el: by.has(r.run) ? h('a', {href: `/runs/${by.get(r.run)}`}, r.dir) : h('span', null, r.dir)});
    // The longest first: it has the most to tell.
    all.histories.sort((a, b) => b.runs.length - a.runs.length).forEach((x, i) => {
      // Those with a change first.
      const changed = new Set(x.changes.map(c => c.series)), order = x.series.map((_, k) => k).sort((a, b) => changed.has(b) - changed.has(a));
      const drawn = x.runs.length < 2 ? [] : order.slice(0, maxFigures).map(k => course(x, x.series[k], i, k)).filter(Boolean);
      main().append(h('section', {id: `history-${i}`, tabindex: -1, 'aria-labelledby': `history-${i}-title`},
        h('h2', {id: `history-${i}-title`}, `${x.study} on ${x.machine}`),
        h('h3', null, 'Changes'),
        x.changes.length ? table({name: `changes-${i}`, title: 'Changes', rows: [
          ['What', 'Direction', 'New level over old', '95 % interval', 'Since', 'Last before', 'Confirmed', 'p', 'What else changed'],
          ...x.changes.map(c => [name(x.series[c.series]), {t: c.direction, cls: c.direction}, num(c.ratio.value.toPrecision(4), c.ratio.value),
            num(c.ratio.lo == null ? '' : `[${c.ratio.lo.toPrecision(4)}, ${c.ratio.hi.toPrecision(4)}]`), run(x.runs[c.after]), run(x.runs[c.before]), c.confirmed ? 'yes' : 'by one run only', num(c.p.toPrecision(2), c.p),
            c.facts.map(f => `${f.where} ${f.key}: ${f.base ?? ''} → ${f.new ?? ''}`).join('; ')])]})
          : h('p', null, x.series.every(s => s.short) ? 'No change can be told yet: it takes 8 runs.' : `No change of ${(100 * all.threshold).toPrecision(2)} % or more.`),
        h('h3', null, 'Courses'),
        x.runs.length < 2 && h('p', null, 'There is one run only: a course begins with the second.'),
        h('div', {class: 'multiples'}, drawn),
        drawn.length > 0 && x.series.length > maxFigures && h('p', null, `${x.series.length - maxFigures} more are in the table: choose a workload, metric or environment to see them drawn.`),
        table({name: `series-${i}`, title: 'Courses', rows: [
          ['What', 'Divided by', 'Unit', ...x.runs.map(r => r.dir)],
          ...order.map(k => x.series[k]).map(s => [name(s), s.against ? `${s.against}’s ${s.against_metric}` : '', s.against ? '×' : s.metric.unit,
            ...s.points.map(p => p.value == null ? {t: '–', title: p.missing} : num(p.value.toPrecision(4), p.value))])]}),
        x.remarks.length > 0 && h('ul', null, x.remarks.map(r => h('li', null, r.text)))));
    });
    if (all.skipped.length) main().append(h('section', {id: 'skipped', tabindex: -1, 'aria-labelledby': 'skipped-title'}, h('h2', {id: 'skipped-title'}, 'In no history'), h('ul', null, all.skipped.map(s => h('li', null, `${s.dir}: ${s.reason}`)))));
  }

  (async () => {
    const index = await get('/api/runs');
    let all, wrong;
    try {
      all = await get(`/api/history?${q}`);
    } catch (err) {
      wrong = err;
    }
    form(index, all);
    if (wrong) throw wrong;
    show(all, index);
  })().catch(complain);
})();
