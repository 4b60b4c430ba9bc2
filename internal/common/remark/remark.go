// Package remark lists the codes of all remarks: what each says, and who raises
// it. The manual's tables are made from the list, and a test of the house holds
// that nobody raises a code that is not in it.
//
// It is opinionated: codes are stable, and one that two raise is explained for
// each, since the same word may stand for more than one thing.
package remark

import (
	"slices"
	"strings"
)

// Kind is one sort of remark, as one part of the program raises it.
type Kind struct {
	Code  string
	By    string // who raises it
	Level string // where it has always the same, or one of few
	Title string // of what it is about, where the code is no title itself
	Says  string // what was seen, for the manual
}

// Who raises remarks.
const (
	Doctor   = "doctor"   // of the machine, before a run
	Plan     = "plan"     // of a study
	Record   = "record"   // the reader of a record
	Import   = "import"   // of another program's results
	Report   = "report"   // of a run
	Compare  = "compare"  // of two
	History  = "history"  // of many
	Hosts    = "hosts"    // of runs on several
	Findings = "findings" // of a study's claims
	Advise   = "advise"
)

// Title is what a code is about, for a heading.
func Title(code string) string {
	for _, k := range List {
		if k.Code == code && k.Title != "" {
			return k.Title
		}
	}
	first := min(1, len(code))
	return strings.ToUpper(code[:first]) + strings.ReplaceAll(code[first:], "-", " ")
}

// weighty are remarks that may change a user's mind about a whole run.
var weighty = []string{
	"battery", "busy", "clock-broken", "cpu-limited", "cpu-pressure", "debug-kernel", "few-cpus", "governor", "io-pressure",
	"memory-low", "memory-pressure", "steal", "steal-heavy", "swap", "throttled",
	"lines-missing", "not-interleaved", "order", "own-load", "residue", "simulated", "unequal", "unlike-parts", "unverified",
}

// Weighs says whether a remark may change a user's mind about a whole run: one that
// does is said before the first trial, and on the first screen of a report.
func Weighs(code string) bool { return slices.Contains(weighty, code) }
