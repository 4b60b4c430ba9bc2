// The page of several hosts: how far each run is, and a newer page when there is one.
'use strict';
(() => {
  const {h, get, table, complain, main} = window.served;
  const q = new URLSearchParams(location.search);
  const body = h('div', {id: 'progress'});
  let shown = '', page = null;

  function state(r) {
    if (r.status !== 'running') return r.killed ? 'interrupted' : r.status;
    const bar = r.total ? h('progress', {max: r.total, value: Math.min(r.done, r.total), 'aria-label': `${r.name}: progress`}) : '';
    return h('span', null, bar, r.total ? `running, ${r.done} of ${r.total}` : `running, ${r.done} trials`);
  }

  function show(fleet, runs) {
    const of = new Map(runs.map(r => [r.id, r])), all = fleet.runs.map(id => of.get(id)).filter(Boolean);
    body.replaceChildren(
      table({name: 'hosts-runs', title: 'Runs', save: false, rows: [['Host', 'Run', 'State'],
        ...all.map(r => [r.machine ?? '', {el: h('a', {href: `/runs/${r.id}`}, r.name)}, {el: h('span', null, state(r))}])]}));
    return all.some(r => r.status === 'running' && !r.killed);
  }

  // renew puts a newer page's main part in the place of this one's. It was written by
  // the server for this address: what comes from data is text in it already, and no
  // script in it would run.
  async function renew() {
    const answer = await fetch(location.href);
    if (!answer.ok) return;
    const text = await answer.text();
    if (text === page) return;
    const first = page === null;
    page = text;
    if (first && document.getElementById('hosts')) return; // it is what is shown
    const next = new DOMParser().parseFromString(text, 'text/html');
    if (!next.getElementById('hosts')) return; // nothing to show yet
    const open = [...main().querySelectorAll('details[open][id]')].map(d => d.id), focus = document.activeElement?.id;
    main().replaceChildren(body, ...next.getElementById('main').childNodes);
    document.getElementById('contents')?.replaceChildren(...next.getElementById('contents').childNodes);
    document.body.classList.add('hosts');
    document.title = next.title;
    document.getElementById('title').textContent = next.title;
    for (const id of open) { const d = document.getElementById(id); if (d) d.open = true; }
    if (focus) document.getElementById(focus)?.focus({preventScroll: true});
  }

  async function look() {
    if (document.hidden) return;
    const index = await get('/api/runs');
    const fleet = index.hosts.find(f => f.folder === q.get('dir') && f.study === q.get('study') && (f.scale ?? '') === (q.get('scale') ?? ''));
    if (!fleet) return;
    const now = JSON.stringify([fleet, index.runs.filter(r => fleet.runs.includes(r.id))]);
    const news = now !== shown;
    shown = now;
    const running = news ? show(fleet, index.runs) : index.runs.some(r => fleet.runs.includes(r.id) && r.status === 'running' && !r.killed);
    if (news || running) await renew();
  }

  main().prepend(body);
  if (!document.getElementById('hosts')) main().append(h('p', {id: 'waiting'}, 'No run has a counted trial yet. This page shows what there is as it comes.'));
  look().catch(complain);
  setInterval(() => look().catch(() => {}), 5000);
  document.addEventListener('visibilitychange', () => look().catch(() => {}));
})();
