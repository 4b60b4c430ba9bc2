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

  // Results are asked for one after the other, once for each state of a run, and not
  // while one goes on: to analyse takes processor time.
  const results = new Map(); // by run and state
  const state = r => `${r.id} ${r.status} ${r.finished ?? ''}`;
  let asking = false, measured = false;
  async function ask(runs) {
    if (asking) return;
    asking = true;
    try {
      for (const r of runs) {
        if (measured || document.hidden || results.has(state(r)) || r.status === 'broken' || r.status === 'running') continue;
        const at = document.getElementById(`result-${r.id}`);
        const text = await get(`/api/runs/${r.id}/result`).then(a => a.result, err => err.message);
        results.set(state(r), text);
        at?.replaceChildren(text);
      }
    } finally {
      asking = false;
    }
  }

  function row(r, folders) {
    const readable = r.status !== 'broken';
    const box = readable && h('input', {type: 'checkbox', id: `pick-${r.id}`, checked: chosen.has(r.id), 'aria-label': `Choose ${r.name} to compare`, onchange: e => {
      if (e.target.checked) chosen.add(r.id); else chosen.delete(r.id);
      offer();
    }});
    const took = r.started && r.finished ? Date.parse(r.finished) - Date.parse(r.started) : null;
    return [
      {el: readable ? h('a', {href: `/runs/${r.id}`}, r.name) : h('span', null, r.name)},
      {el: h('span', {id: `result-${r.id}`, class: 'result'}, results.get(state(r)) ?? '')},
      {t: date(r.started), cls: 'nowrap'},
      {el: h('span', null, status(r))},
      {el: box || h('span')},
      {el: h('span', null, r.title || r.study || '', r.scale ? ` (${r.scale})` : '')},
      num(took > 0 ? time(took * 1e6) : ''),
      r.machine ?? '',
      (r.engines ?? []).join(', '),
      num(r.environments ?? ''),
      ...(folders.length > 1 ? [folders.find(f => f.id === r.folder)?.name ?? ''] : []),
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
    const {folders, runs, others, hosts} = index;
    measured = runs.some(r => r.status === 'running' && !r.killed);
    const folder = f => {
      const here = others.filter(o => o.folder === f.id), n = runs.filter(r => r.folder === f.id).length, many = folders.length > 1 ? ` in ${f.name}` : '';
      return [
        f.problem && h('p', {class: 'bad'}, f.problem),
        hosts.filter(x => x.folder === f.id).map(x => h('p', null, h('a', {href: x.page}, `${x.title || x.study} on ${x.hosts} hosts together${many}`))),
        n > 1 && h('p', null, h('a', {href: `/history?dir=${f.id}`}, `History of the ${n} runs${many}`)),
        here.length > 0 && h('details', {id: `others-${f.id}`}, h('summary', null, `${here.length} other ${here.length === 1 ? 'directory' : 'directories'}${many}`),
          h('ul', null, here.map(o => h('li', null, `${o.name}: ${o.reason}`)))),
      ];
    };
    const parts = [
      measured && runs.length > 1 ? h('p', {class: 'note', id: 'later'}, 'A run is measuring. Results come when it is over: to work them out takes processor time.') : '',
      runs.length ? table({name: 'runs-table', title: 'Runs', save: false, rows: [['Run', 'Result', 'Started', 'State', 'Compare', 'Study', 'Took', 'Machine', 'Engines', 'Environments', ...(folders.length > 1 ? ['Folder'] : [])], ...runs.map(r => row(r, folders))]})
        : h('p', null, 'No run yet. This page shows new ones as they come.'),
      ...folders.map(folder).flat(2).filter(Boolean),
    ];
    const open = new Map([...body.querySelectorAll('details[id]')].map(d => [d.id, d.open])), focus = document.activeElement?.id;
    body.replaceChildren(...parts);
    for (const [id, is] of open) { const d = document.getElementById(id); if (d) d.open = is; }
    if (focus) document.getElementById(focus)?.focus({preventScroll: true});
    offer();
    ask(runs);
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
