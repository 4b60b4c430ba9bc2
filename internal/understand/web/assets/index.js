// The runs of all folders.
'use strict';
(() => {
  const {h, table, get, time, date, num, complain, main} = window.served;
  const chosen = new Set();
  const body = h('div', {id: 'runs'});
  let tag = '';

  function status(r) {
    if (r.status === 'running') {
      const of = r.total ? ` ${r.done} of ${r.total}` : ` ${r.done} trials`;
      return h('span', null, r.total ? h('progress', {max: r.total, value: Math.min(r.done, r.total), 'aria-label': `${r.name}: progress`}) : '', `running,${of}`);
    }
    if (r.status === 'broken') return h('span', {class: 'bad'}, `cannot be read: ${r.problem ?? ''}`);
    if (r.killed) return 'interrupted (killed)';
    return r.status;
  }

  function row(r) {
    const readable = r.status !== 'broken';
    const box = readable && h('input', {type: 'checkbox', id: `pick-${r.id}`, checked: chosen.has(r.id), 'aria-label': `Choose ${r.name} to compare`, onchange: e => {
      if (e.target.checked) chosen.add(r.id); else chosen.delete(r.id);
      offer();
    }});
    const took = r.started && r.finished ? Date.parse(r.finished) - Date.parse(r.started) : null;
    return [
      {el: readable ? h('a', {href: `/runs/${r.id}`}, r.name) : h('span', null, r.name)},
      {el: h('span', null, r.title || r.study || '', r.scale ? ` (${r.scale})` : '')},
      {el: h('span', null, status(r))},
      date(r.started),
      num(took > 0 ? time(took * 1e6) : ''),
      r.machine ?? '',
      (r.engines ?? []).join(', '),
      num(r.environments ?? ''),
      {el: box || h('span')},
    ];
  }

  const offerAt = h('p', {class: 'offer', role: 'status'});
  function offer() {
    const two = [...chosen];
    offerAt.replaceChildren(two.length === 2
      ? h('a', {href: `/compare?base=${two[0]}&new=${two[1]}`}, 'Compare the two chosen runs')
      : 'Choose two runs to compare them.');
  }

  function show(index) {
    const parts = [];
    for (const f of index.folders) {
      const runs = index.runs.filter(r => r.folder === f.id), others = index.others.filter(o => o.folder === f.id);
      parts.push(h('section', {id: `folder-${f.id}`, tabindex: -1, 'aria-labelledby': `folder-${f.id}-title`},
        h('h2', {id: `folder-${f.id}-title`}, f.name),
        f.problem && h('p', {class: 'bad'}, f.problem),
        runs.length ? table({name: `runs-${f.id}`, title: `Runs in ${f.name}`, save: false, rows: [['Run', 'Study', 'Status', 'Started', 'Took', 'Machine', 'Engines', 'Environments', 'Compare'], ...runs.map(row)]})
          : h('p', null, 'No run yet. This page shows new ones as they come.'),
        runs.length > 1 && h('p', null, h('a', {href: `/history?dir=${f.id}`}, 'History of these runs')),
        others.length > 0 && h('details', {id: `others-${f.id}`}, h('summary', null, `${others.length} other ${others.length === 1 ? 'directory' : 'directories'}`),
          h('ul', null, others.map(o => h('li', null, `${o.name}: ${o.reason}`))))));
    }
    const open = new Map([...body.querySelectorAll('details[id]')].map(d => [d.id, d.open])), focus = document.activeElement?.id;
    body.replaceChildren(...parts);
    for (const [id, is] of open) { const d = document.getElementById(id); if (d) d.open = is; }
    if (focus) document.getElementById(focus)?.focus({preventScroll: true});
    offer();
  }

  async function look() {
    if (document.hidden) return;
    const answer = await get('/api/runs');
    const now = JSON.stringify(answer);
    if (now === tag) return;
    tag = now;
    show(answer);
  }

  main().append(offerAt, body);
  look().catch(complain);
  setInterval(() => look().catch(() => {}), 5000);
  document.addEventListener('visibilitychange', () => look().catch(() => {}));
})();
