// A run's medians as plain tables, where the program was built without the
// script that draws charts.
'use strict';
(() => {
  const {table, numbers, get, num, complain, main, report} = window.served;
  if (report.show) return;
  const shown = w => w.tables.filter(t => w.show.includes(t.metric.id) && t.median.some(v => v != null));
  get(document.body.dataset.src).then(data => {
    for (const [i, w] of data.works.entries()) {
      for (const t of shown(w)) {
        const scale = numbers.scaleFor(t.metric.unit, t.median);
        main().append(table({name: `work-${i}-${t.metric.id}`, title: `${w.title || w.id}: ${t.metric.title}, ${scale.unit}`, rows: [
          ['Environment', `Median, ${scale.unit}`, '95 % interval', 'Values', 'Group'],
          ...t.ranking.map(e => {
            const x = numbers.estimate(t.median[e], t.lo[e], t.hi[e], scale);
            return [data.envs[e].name, num(x.value), num(x.interval), num(t.n[e]), t.group[e]];
          })]}));
      }
    }
  }).catch(complain);
})();
