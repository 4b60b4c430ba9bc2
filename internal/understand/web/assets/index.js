// The runs of all folders.
'use strict';
(() => {
  const {h, table, get, time, date, num, complain, main} = window.served;
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

  function row(r, folders) {
    const took = r.started && r.finished ? Date.parse(r.finished) - Date.parse(r.started) : null;
    return [
      {el: r.status !== 'broken' ? h('a', {href: `/runs/${r.id}`}, r.name) : h('span', null, r.name)},
      {t: date(r.started), cls: 'nowrap'},
      {el: h('span', null, status(r))},
      {el: h('span', null, r.title || r.study || '', r.scale ? ` (${r.scale})` : '')},
      num(took > 0 ? time(took * 1e6) : ''),
      r.machine ?? '',
      (r.engines ?? []).join(', '),
      num(r.environments ?? ''),
      ...(folders.length > 1 ? [folders.find(f => f.id === r.folder)?.name ?? ''] : []),
    ];
  }

  function show(index) {
    const {folders, runs, others} = index;
    const folder = f => {
      const here = others.filter(o => o.folder === f.id), many = folders.length > 1 ? ` in ${f.name}` : '';
      return [
        f.problem && h('p', {class: 'bad'}, f.problem),
        here.length > 0 && h('details', {id: `others-${f.id}`}, h('summary', null, `${here.length} other ${here.length === 1 ? 'directory' : 'directories'}${many}`),
          h('ul', null, here.map(o => h('li', null, `${o.name}: ${o.reason}`)))),
      ];
    };
    const parts = [
      runs.length ? table({name: 'runs-table', title: 'Runs', save: false, rows: [['Run', 'Started', 'State', 'Study', 'Took', 'Machine', 'Engines', 'Environments', ...(folders.length > 1 ? ['Folder'] : [])], ...runs.map(r => row(r, folders))]})
        : h('p', null, 'No run yet. This page shows new ones as they come.'),
      ...folders.map(folder).flat(2).filter(Boolean),
    ];
    const open = new Map([...body.querySelectorAll('details[id]')].map(d => [d.id, d.open])), focus = document.activeElement?.id;
    body.replaceChildren(...parts);
    for (const [id, is] of open) { const d = document.getElementById(id); if (d) d.open = is; }
    if (focus) document.getElementById(focus)?.focus({preventScroll: true});
  }

  async function look() {
    if (document.hidden) return;
    const answer = await get('/api/runs');
    const now = JSON.stringify(answer);
    if (now === tag) return;
    tag = now;
    show(answer);
  }

  main().append(body);
  look().catch(complain);
  setInterval(() => look().catch(() => {}), 5000);
  document.addEventListener('visibilitychange', () => look().catch(() => {}));
})();
