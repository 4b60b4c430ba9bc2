// Package study turns a study, a YAML file, into a plan: which trials run, in
// which order, and which combinations don't, each with its reason.
//
// It is opinionated in four ways. A study is data: it names engines, levels
// and workloads and can hold no command, no option and no path but that of
// another study in its own folder. Every error says where it is, what was
// expected and which word was probably meant, and all independent errors come
// at once. A combination is never dropped in silence: it is valid, impossible
// (a rule with a sentence and, where there is one, a source) or unavailable
// here (with what would fix it). And the order of the trials is a pure
// function of plan and seed, for ever, so that a run can be repeated and
// resumed.
//
// The package knows no engine: what there is to choose from comes in as a
// [Catalogue].
//
// Why it is so: docs/decisions/running.md.
package study
