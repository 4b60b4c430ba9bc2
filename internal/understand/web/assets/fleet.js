// The way from a run to what all hosts say together that ran its study.
'use strict';
(() => {
  const {h, get, complain, main} = window.served;
  const id = location.pathname.split('/').pop();
  get('/api/runs').then(index => {
    const fleet = index.hosts.find(f => f.runs.includes(id));
    if (fleet) main().parentElement.before(h('nav', {id: 'fleet', 'aria-label': 'Hosts'}, h('a', {href: fleet.page}, `${fleet.title || fleet.study} on ${fleet.hosts} hosts together`)));
  }).catch(complain);
})();
