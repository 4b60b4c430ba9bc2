// Two runs compared: what changed, and what else differs.
'use strict';
(() => {
  const {h, table, numbers, figure, tip, get, date, num, select, ask, complain, main} = window.served;
  const q = new URLSearchParams(location.search);
  const words = {better: 'better', worse: 'worse', equal: 'equal', 'cannot-tell': 'cannot tell'};

  const maxOpen = 6;

  const name = c => c.new_env ? `${c.env} → ${c.new_env}` : c.env;
  const title = r => `${r.name} (${r.study ?? ''}${r.started ? `, ${date(r.started)}` : ''})`;

  function form(index) {
    const runs = index.runs.filter(r => r.status !== 'broken');
    const options = [['', 'choose a run'], ...runs.map(r => [r.id, title(r)])];
    main().append(h('div', {class: 'ask', role: 'group', 'aria-label': 'What is compared'},
      select('base', 'Base', options, q.get('base') ?? '', base => ask({base})),
      select('new', 'New', options, q.get('new') ?? '', v => ask({new: v})),
      select('against', 'Both divided by', [['', 'the first baseline that both have'], ['native', 'native'], ['floor', 'floor'], ['host', 'host'], ['none', 'nothing: absolute values']], q.get('against') ?? '', against => ask({against})),
      h('button', {type: 'button', id: 'swap', onclick: () => ask({base: q.get('new'), new: q.get('base')})}, 'Swap')));
  }

  const ratio = (v, d) => v == null ? '' : v.toFixed(d ?? 3);

  function forest(key, cells, delta, i) {
    const rows = cells.filter(c => c.ratio);
    if (!rows.length) return null;
    const labels = rows.map(name), ends = rows.flatMap(c => [c.ratio.lo ?? c.ratio.value, c.ratio.hi ?? c.ratio.value]);
    // The axis is linear where all is near 1, since a logarithmic one has no ticks there.
    const least = Math.min(0.95, ...ends), most = Math.max(1.05, ...ends), wide = most / least > 3;
    return figure({
      name: `changes-${i}`, title: `${key}: new over base`, height: 90 + 26 * rows.length,
      describe: () => rows.slice(0, 12).map(c => `${name(c)} × ${ratio(c.ratio.value)}, ${words[c.verdict] ?? ''}`).join('; '),
      table: () => [['Environment', 'Ratio', 'from', 'to', 'Verdict'], ...rows.map(c => [name(c), num(ratio(c.ratio.value), c.ratio.value), num(ratio(c.ratio.lo), c.ratio.lo), num(ratio(c.ratio.hi), c.ratio.hi), words[c.verdict] ?? ''])],
      option: t => ({
        grid: {left: 10, right: 30, top: 10, bottom: 40, containLabel: true},
        tooltip: {trigger: 'item', formatter: p => { const c = rows[p.dataIndex]; return tip(name(c), [['New over base', ratio(c.ratio.value)], ['95 % interval', c.ratio.lo == null ? '' : `[${ratio(c.ratio.lo)}, ${ratio(c.ratio.hi)}]`], ['Verdict', words[c.verdict]], ['Blocks', `${c.base_blocks} / ${c.new_blocks}`]]); }},
        xAxis: {type: wide ? 'log' : 'value', name: 'new over base', nameLocation: 'middle', nameGap: 26, ...(wide ? {min: least * 0.97, max: most * 1.03} : {min: Math.floor(least * 20) / 20, max: Math.ceil(most * 20) / 20}), axisLabel: {formatter: v => numbers.short ? numbers.short(v) : String(v)}},
        yAxis: {type: 'category', data: labels, inverse: true},
        series: [
          {type: 'line', silent: true, data: [], markArea: {silent: true, itemStyle: {color: t.grid, opacity: 0.7}, data: [[{xAxis: 1 / (1 + delta)}, {xAxis: 1 + delta}]]}, markLine: {silent: true, symbol: 'none', lineStyle: {color: t.line, type: 'solid'}, label: {show: false}, data: [{xAxis: 1}]}},
          ...rows.map((c, k) => c.ratio.lo == null ? null : {type: 'line', silent: true, showSymbol: false, lineStyle: {color: t.text, width: 2}, data: [[c.ratio.lo, k], [c.ratio.hi, k]]}).filter(Boolean),
          {type: 'scatter', symbolSize: 9, data: rows.map((c, k) => ({value: [c.ratio.value, k], symbol: c.verdict === 'worse' ? 'triangle' : c.verdict === 'better' ? 'diamond' : 'circle', itemStyle: {color: c.verdict === 'worse' || c.verdict === 'better' ? t.accent : t.muted}}))},
        ],
      }),
    });
  }

  // told says in a few words what became of some values.
  function told(cells) {
    const n = k => cells.filter(c => k === 'lost' ? c.lost : c.verdict === k).length;
    const all = [...Object.keys(words), 'lost'].filter(k => n(k)).map(k => `${n(k)} ${words[k] ?? k}`);
    return all.length ? all.join(', ') : 'nothing that both have';
  }

  // part is drawn when it is opened: a study may have hundreds.
  function part(key, cells, delta, i, open) {
    const inside = h('div'), changed = cells.some(c => c.lost || c.verdict === 'better' || c.verdict === 'worse');
    const el = h('details', {id: `part-${i}`, open}, h('summary', null, h('strong', null, key), ': ', h('span', {class: changed ? null : 'quiet'}, told(cells))), inside);
    const fill = () => { if (el.open && !inside.firstChild) inside.append(...drawn(key, cells, delta, i)); };
    el.addEventListener('toggle', fill);
    fill();
    return el;
  }

  function drawn(key, cells, delta, i) {
    const metric = cells[0].metric, values = cells.flatMap(c => [c.base?.value, c.new?.value]).filter(v => v != null), scale = numbers.scaleFor(metric.unit, values);
    const show = e => { const x = numbers.estimate(e?.value, e?.lo, e?.hi, scale); return {t: x.interval ? `${x.value} ${x.interval}` : x.value, v: e?.value, num: true}; };
    const unit = scale.unit ? `, ${scale.unit}` : '';
    return [
      forest(key, cells, delta, i),
      table({name: `table-${i}`, title: key, rows: [
        ['Environment', `Base${unit}`, `New${unit}`, 'New over base', 'Verdict', 'Blocks', 'Divided by'],
        ...cells.map(c => [name(c), show(c.base), show(c.new),
          {t: c.ratio ? `${ratio(c.ratio.value)}${c.ratio.lo != null ? ` [${ratio(c.ratio.lo)}, ${ratio(c.ratio.hi)}]` : ''}` : '', v: c.ratio?.value, num: true},
          {t: c.missing ?? words[c.verdict] ?? '', cls: c.verdict === 'better' ? 'better' : c.verdict === 'worse' || c.lost ? 'worse' : null, title: c.blocks_needed ? `about ${c.blocks_needed} blocks would tell` : null},
          num(`${c.base_blocks} / ${c.new_blocks}`), c.against ? `${c.against}’s ${c.against_metric}` : ''])]}),
    ].filter(Boolean);
  }

  function show(c) {
    const side = (what, s) => h('p', null, h('strong', null, `${what}: `), `${s.study}, run ${s.run}${s.env ? `, ${s.env}` : ''}, ${date(s.started)}, ${s.machine}, plimsoll ${s.tool} (${s.status})`);
    const parts = new Map();
    for (const x of c.cells) {
      if (x.metric.kind) continue;
      const key = `${c.command || x.workload}: ${x.metric.title}`;
      if (!parts.has(key)) parts.set(key, []);
      parts.get(key).push(x);
    }
    const list = [...parts], isOpen = new Set(list.map((_, i) => i).filter(i => list[i][1].some(x => x.lost || x.verdict === 'better' || x.verdict === 'worse')).slice(0, maxOpen));
    if (!isOpen.size) isOpen.add(Math.max(0, list.findIndex(([, cells]) => cells[0].metric.id === 'startup')));
    main().append(...[
      side('Base', c.base), side('New', c.new), h('p', {role: 'status'}, `Of ${c.cells.length} values: ${told(c.cells)}.`),
      h('p', {class: 'lead'}, `Better and worse: the 95 % interval lies beyond ± ${(100 * c.delta).toPrecision(2)} %, and p, corrected for the table, is below 5 %.`),
      h('section', {id: 'changes', tabindex: -1, 'aria-labelledby': 'changes-title'}, h('h2', {id: 'changes-title'}, 'Changes'), list.map(([key, cells], i) => part(key, cells, c.delta, i, isOpen.has(i)))),
      c.failures.length > 0 && h('section', {id: 'failures', tabindex: -1, 'aria-labelledby': 'failures-title'}, h('h2', {id: 'failures-title'}, 'Failures'),
        table({name: 'failures-table', title: 'Failures', rows: [['Environment', 'Workload', 'Base', 'New', 'More often'], ...c.failures.map(f => [name(f), c.command || f.workload, num(`${f.base_failed} of ${f.base_trials}`), num(`${f.new_failed} of ${f.new_trials}`), f.worse ? 'yes' : ''])]})),
      c.facts.length > 0 && h('section', {id: 'facts', tabindex: -1, 'aria-labelledby': 'facts-title'}, h('h2', {id: 'facts-title'}, 'What else differs'),
        table({name: 'facts-table', title: 'What else differs', rows: [['What', 'Environment', 'Base', 'New'], ...c.facts.map(f => [`${f.where}: ${f.key}`, f.env ?? '', f.base ?? '', f.new ?? ''])]})),
      c.remarks.length > 0 && h('section', {id: 'remarks', tabindex: -1, 'aria-labelledby': 'remarks-title'}, h('h2', {id: 'remarks-title'}, 'Remarks'),
        h('ul', null, c.remarks.map(r => h('li', null, r.text, r.advice ? ` ${r.advice}` : '')))),
    ].filter(Boolean));
  }

  (async () => {
    form(await get('/api/runs'));
    const two = q.has('base') && (q.has('new') || q.getAll('env').length === 2);
    if (!two) { main().append(h('p', null, 'Choose two runs.')); return; }
    show(await get(`/api/compare?${q}`));
  })().catch(complain);
})();
