//go:build linux

package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/common/tested"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/host"
)

// engineColumns are the widths of the table, which fits 100 columns.
var engineColumns = []struct {
	title string
	width int
}{{"ENGINE", 13}, {"VERSION", 16}, {"RUNTIMES", 18}, {"STORAGE", 22}, {"ROOTLESS", 8}, {"CGROUPS", 13}}

// printEngines prints what works as a table and, below it, what does not.
func printEngines(out io.Writer, all []found) error {
	titles := make([]string, len(engineColumns))
	for i, c := range engineColumns {
		titles[i] = c.title
	}
	var err error
	row := func(cells ...string) {
		if err == nil {
			_, err = io.WriteString(out, tableRow(cells))
		}
	}
	line := func(text string) {
		if err == nil {
			_, err = fmt.Fprintln(out, text)
		}
	}
	narrow := columnsOn(out)
	if n := widthOf(out); n > 0 && n < pipeWidth {
		row = func(cells ...string) { fmt.Fprintln(narrow, strings.Join(cells, "\t")) } // into a buffer
	}
	row(titles...)
	for _, f := range all {
		if f.Usable {
			row(name(f), dash(f.Version), dash(usableOf(f, engine.Runtime)), dash(usableOf(f, engine.Storage)), dash(usableOf(f, engine.Rootless)), dash(cgroupsOf(f)))
		}
	}
	err = errors.Join(err, narrow.Flush())
	var lines, levels []string
	for _, f := range all {
		if !f.Usable {
			lines = append(lines, missing(name(f), f.Reason, f.Fix))
			continue
		}
		if n := unusableLevels(f); n > 0 {
			levels = append(levels, fmt.Sprintf("%s %d", f.Info.Name, n))
		}
	}
	if len(lines) > 0 {
		line("")
		line("Not usable here:")
		for _, l := range lines {
			line(l)
		}
	}
	if len(levels) > 0 {
		line("")
		for _, l := range wrapWords("Levels not available: "+strings.Join(levels, ", ")+". `plimsoll engines NAME` says which, why, and what would help.", cmp.Or(widthOf(out), pipeWidth)) {
			line(l)
		}
	}
	return err
}

// tableRow lays cells out, each wrapped to the width of its column.
func tableRow(cells []string) string {
	wrapped := make([][]string, len(cells))
	high := 1
	for i, c := range cells {
		wrapped[i] = wrapCell(c, engineColumns[i].width)
		high = max(high, len(wrapped[i]))
	}
	var b strings.Builder
	for h := range high {
		var line strings.Builder
		for i := range cells {
			part := ""
			if h < len(wrapped[i]) {
				part = wrapped[i][h]
			}
			line.WriteString(part)
			if pad := engineColumns[i].width + 2 - len([]rune(part)); pad > 0 {
				line.WriteString(strings.Repeat(" ", pad))
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}

// wrapCell breaks a cell between words, and cuts a word that is too long.
func wrapCell(s string, width int) []string {
	lines := wrapWords(s, width)
	for i, l := range lines {
		if r := []rune(l); len(r) > width {
			lines[i] = string(r[:width-1]) + "…"
		}
	}
	return lines
}

func name(f found) string {
	switch {
	case f.Info.Unverified:
		return f.Info.Name + " (unverified)"
	case f.Info.ByHand != "":
		return f.Info.Name + " (by-hand)"
	}
	return f.Info.Name
}

// usableOf lists the levels of a factor that can be had, without "default",
// which says nothing. Where there is no choice it is the engine's own fact.
func usableOf(f found, factor string) string {
	var ls []string
	for _, l := range f.Levels[factor] {
		if l.Usable && l.Name != engine.DefaultLevel {
			ls = append(ls, l.Name)
		}
	}
	if len(ls) == 0 {
		return f.Facts[factor]
	}
	return strings.Join(ls, ", ")
}

func cgroupsOf(f found) string {
	return strings.TrimSpace(f.Facts["cgroup"] + " " + f.Facts["cgroup-driver"])
}

func unusableLevels(f found) int {
	n := 0
	for _, ls := range f.Levels {
		n += lists.Count(ls, func(l engine.Level) bool { return !l.Usable })
	}
	return n
}

// printEngineDetails prints all that is known of some engines.
func printEngineDetails(out io.Writer, all []found) error {
	var b strings.Builder
	for i, f := range all {
		if i > 0 {
			b.WriteByte('\n')
		}
		engineDetails(&b, f)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func engineDetails(b *strings.Builder, f found) {
	state := "usable here"
	if !f.Usable {
		state = "not usable here"
	}
	fmt.Fprintf(b, "%s: %s, %s\n", f.Info.Name, f.Info.Title, state)
	field := func(key, value string) {
		if value != "" {
			fmt.Fprintf(b, "  %-16s %s\n", key, value)
		}
	}
	field("why", f.Reason)
	field("try", f.Fix)
	field("version", f.Version)
	field("where", f.Where)
	verified := "yes: the adapter was run against the real engine"
	if with := testedWith(f); with != "" {
		verified = "yes: " + with
	}
	switch {
	case f.Info.Baseline:
		verified = "yes: a baseline, part of plimsoll"
	case f.Info.Simulated:
		verified = "it is simulated: its times are made up"
	case f.Info.Unverified:
		verified = "no: the adapter was written from the documentation, and never run against the real engine"
	case f.Info.ByHand != "":
		verified = "by hand: the adapter was run against " + f.Info.Title + " " + f.Info.ByHand + "; no package has it, so the tests run against a stand-in"
	}
	for _, factor := range slices.Sorted(maps.Keys(f.Info.Untried)) {
		verified += "; never with " + factor + " " + strings.Join(f.Info.Untried[factor], ", ")
	}
	field("verified", verified)
	detached := "no: a container ends with the program that started it"
	if f.Info.Detached {
		detached = "yes: a container runs without a process of plimsoll's"
	}
	field("detached", detached)
	for _, k := range slices.Sorted(maps.Keys(f.Facts)) {
		if k != "version" || f.Facts[k] != f.Version {
			field(k, f.Facts[k])
		}
	}
	can := func(adds bool) string {
		some := lists.Filter(f.Info.Mechanisms, func(m engine.Mechanism) bool { return m.Adds == adds })
		return strings.Join(lists.Map(some, func(m engine.Mechanism) string { return m.Name }), ", ")
	}
	field("can do without", can(false))
	field("can also do", can(true))
	for _, factor := range engine.Factors {
		levelDetails(b, f, factor)
	}
}

// testedWith says with which versions an engine was tested, and how the one that is here
// relates to them; "" where no test has said so.
func testedWith(f found) string {
	var said []string
	for _, p := range versionsOf(f) {
		var with []string
		for _, e := range tested.Of(p.Name) {
			one := e.Version + " on " + e.Platform + " (cgroup " + e.Cgroup + ")"
			if !slices.Contains(with, one) {
				with = append(with, one)
			}
		}
		if len(with) == 0 {
			continue
		}
		text := strings.Join(with, ", ")
		if p.Name != f.Info.Name {
			text = p.Name + " " + text
		}
		if judged := tested.Judge(p.Name, p.Version, platform()); judged != "" && judged != "tested" && f.Usable {
			text += "; " + p.Version + " is " + judged
		}
		said = append(said, text)
	}
	if len(said) == 0 {
		return ""
	}
	return "tested with " + strings.Join(said, "; ")
}

// versionsOf are an engine, or where that is a command for several the runtimes that its
// version lists: "runc 1.1.5, crun 1.8.1".
func versionsOf(f found) (all []tested.Program) {
	for part := range strings.SplitSeq(f.Version, ", ") {
		if name, version, two := strings.Cut(part, " "); two {
			all = append(all, tested.Program{Name: name, Version: version})
		}
	}
	if len(all) == 0 {
		all = []tested.Program{{Name: f.Info.Name, Version: f.Version}}
	}
	return all
}

// platform is what this machine's system calls itself.
var platform = sync.OnceValue(func() string {
	name, _ := host.Machine{}.OS() // what can't be read is no platform
	return name
})

// levelDetails prints one factor: what can be had, then what can't and why.
func levelDetails(b *strings.Builder, f found, factor string) {
	known := f.Info.Levels[factor]
	if len(known) == 0 {
		return
	}
	var can []string
	var cannot []engine.Level
	for _, name := range known {
		i := slices.IndexFunc(f.Levels[factor], func(l engine.Level) bool { return l.Name == name })
		switch {
		case i >= 0 && !f.Levels[factor][i].Usable:
			cannot = append(cannot, f.Levels[factor][i])
		case f.Usable:
			can = append(can, name)
		}
	}
	if !f.Usable {
		fmt.Fprintf(b, "  factor %s: %s\n", factor, strings.Join(known, ", "))
		return
	}
	fmt.Fprintf(b, "  factor %s: %s\n", factor, dash(strings.Join(can, ", ")))
	for _, l := range cannot {
		fmt.Fprintf(b, "    not %s: %s\n", l.Name, l.Reason)
		if l.Fix != "" {
			fmt.Fprintf(b, "      try: %s\n", l.Fix)
		}
	}
}
