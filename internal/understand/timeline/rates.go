package timeline

import (
	"cmp"
	"slices"
)

// Rates are how many starts a second there are, by how many begin at once, and what
// bounds that.
type Rates struct {
	// Starts are how many rounds were traced for each row.
	Starts int       `json:"starts"`
	Rows   []RateRow `json:"rows"`
	// Lacking are the reasons of what could not be started here at all.
	Lacking []string `json:"lacking,omitempty"`
}

// RateRow is one of an environment or a command, with so many at once.
type RateRow struct {
	What   string `json:"what"`
	AtOnce int    `json:"at_once"`
	// PerSecond are starts a second: of one, one after the other; of several, by the time
	// until the last of them is there. NS is what one start takes then, and Times how
	// often as long as alone, in the same rounds.
	PerSecond float64 `json:"per_second,omitempty"`
	NS        float64 `json:"ns,omitempty"`
	Times     float64 `json:"times_alone,omitempty"`
	// Most is what is waited for more than alone, of one what is waited for at all, the
	// most first, with its share of all of that.
	Most []Waited `json:"most,omitempty"`
	// Overhead is what tracing costs: the ratio of traced starts to others, 0 where it is
	// not known. Lost is the number of events that the kernel had no room for.
	Overhead float64 `json:"overhead,omitempty"`
	Lost     int64   `json:"lost,omitempty"`
	// Missing says why there is none.
	Missing string `json:"missing,omitempty"`
}

// Waited is a cause over all programs.
type Waited struct {
	Name  string  `json:"name"`
	NS    int64   `json:"ns"`
	Share float64 `json:"share"`
}

// mostWaited is how many causes a row names.
const mostWaited = 3

// Row is a table's, of several at once.
func (c *Comparison) Row() RateRow {
	row := RateRow{What: c.A.What, AtOnce: c.Rate.AtOnce, PerSecond: c.Rate.Together, NS: c.B.NS, Times: c.B.NS / max(c.A.NS, 1), Overhead: c.B.Overhead, Lost: c.A.Lost + c.B.Lost}
	all := c.Rate.Grown() // other causes may take less, so that the start takes not so much longer
	for _, p := range c.Rate.Growth[:min(mostWaited, len(c.Rate.Growth))] {
		row.Most = append(row.Most, Waited{p.Name, p.More(), float64(p.More()) / float64(all)})
	}
	return row
}

// AloneRow is a table's, of starts one after the other.
func AloneRow(x *Explanation) RateRow {
	row := RateRow{What: x.What, AtOnce: 1, PerSecond: 1e9 / max(x.NS, 1), NS: x.NS, Times: 1, Overhead: x.Overhead, Lost: x.Lost}
	all := map[string]int64{}
	var walk func(s *Step)
	walk = func(s *Step) {
		if len(s.Steps) == 0 {
			all[overall(s.Name)] += s.NS
		}
		for _, b := range s.Steps {
			walk(b)
		}
	}
	walk(x.Tree)
	for name, ns := range all {
		row.Most = append(row.Most, Waited{name, ns, float64(ns) / float64(max(x.Tree.NS, 1))})
	}
	slices.SortFunc(row.Most, func(a, b Waited) int { return cmp.Or(cmp.Compare(b.NS, a.NS), cmp.Compare(a.Name, b.Name)) })
	row.Most = row.Most[:min(mostWaited, len(row.Most))]
	return row
}
