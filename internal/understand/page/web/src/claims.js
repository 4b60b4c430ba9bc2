// Sentences about claims: what they lack, and how sure their intervals are.

// without says what a claim lacks. Environments and engines that lack for one reason stand
// before it together, each once.
export function without(lacks) {
  const whats = new Map();
  for (const x of lacks) {
    const ids = x.what.split(', '), plain = ids.every(id => !id.includes(' ')), key = plain ? x.reason : `${x.reason}\n${x.what}`;
    const of = whats.get(key) ?? {reason: x.reason, what: []};
    of.what = [...new Set([...of.what, ...(plain ? ids : [x.what])])];
    whats.set(key, of);
  }
  return [...whats.values()].map(x => `${x.what.join(', ')} (${x.reason})`).join('; ');
}

// levels are those of the intervals: of a run that was looked at more than once they are
// higher than 95 %.
export function levels(claims) {
  const all = claims.flatMap(c => (c.pairs ?? []).map(p => p.level || 0.95));
  return [...new Set(all.length ? all : [0.95])].sort().map(l => `${Number((100 * l).toPrecision(3))} %`).join(' or ');
}

// sentence ends a text as one.
const sentence = text => /[.!?]$/.test(text) ? text : `${text}.`;

// untested says of answers that there are none of why, each once: what every trial failed
// of, or what measures them. Behind ". (" stands what a step of a trial said.
export function untested(answers) {
  const said = answers.filter(a => a.verdict === 'not-tested').map(a => a.failed ? `Not answered here, since every trial failed: ${sentence(a.failed.split('. (')[0])}` : a.command ? `Not asked here. To ask: ${a.command}` : '');
  return [...new Set(said)].filter(s => s);
}
