// Package remark lists the codes of all remarks: what each says, and who raises
// it. The manual's tables are made from the list, and a test of the house holds
// that nobody raises a code that is not in it.
//
// It is opinionated: codes are stable, and one that two raise is explained for
// each, since the same word may stand for more than one thing.
package remark

import "strings"

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
