// Package tested knows with which versions of engines, and where, Plimsoll was tested.
//
// The table is data that tests write: the conformance suite where PLIMSOLL_TESTED names
// the file, and the test of platforms. Nobody writes into it what was not run.
package tested

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Entry is one version of an engine or a runtime, as it was tested.
type Entry struct {
	Engine   string `json:"engine"` // or the runtime
	Version  string `json:"version"`
	Platform string `json:"platform"` // as /etc/os-release has it, such as "Debian GNU/Linux 13 (trixie)"
	Kernel   string `json:"kernel"`   // its release, without what who built it has added
	Cgroup   string `json:"cgroup"`   // v1, v2, hybrid
	Init     string `json:"init"`     // systemd, or none
	By       string `json:"by"`       // conformance, or platform
	Date     string `json:"date"`     // YYYY-MM-DD, of the last test
}

// Place is where something was tested; its fields are Entry's.
type Place struct{ Platform, Kernel, Cgroup, Init string }

// Program is an engine or a runtime, with the version that it reports.
type Program struct{ Name, Version string }

// Programs returns the programs of an environment by its facts: the runtime and the engine
// above it. An engine that is nothing but its runtime is left out, and a program without
// a number as its version.
func Programs(engine string, facts map[string]string) (all []Program) {
	add := func(p Program) {
		if p.Name != "" && len(numbers(p.Version)) > 0 {
			all = append(all, p)
		}
	}
	add(Program{facts["runtime"], facts["runtime-version"]})
	if facts["version"] != facts["runtime-version"] {
		add(Program{engine, facts["version"]})
	}
	return all
}

// From returns the entries of an environment that passed, by its facts.
func From(engine string, facts map[string]string, at Place, by, date string) (entries []Entry) {
	at.Kernel, _, _ = strings.Cut(at.Kernel, "-")
	for _, p := range Programs(engine, facts) {
		entries = append(entries, Entry{p.Name, p.Version, at.Platform, at.Kernel, at.Cgroup, at.Init, by, date})
	}
	return entries
}

//go:embed tested.json
var file []byte

// All is the whole table, sorted by engine and version.
var All = sync.OnceValue(func() []Entry {
	all, err := parse(file)
	if err != nil {
		panic("tested.json: " + err.Error()) // a test reads it
	}
	return all
})

func parse(text []byte) ([]Entry, error) {
	var all []Entry
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&all); err != nil {
		return nil, err
	}
	for i, e := range all {
		if e.Engine == "" || e.Version == "" || e.Platform == "" || e.By == "" || e.Date == "" {
			return nil, fmt.Errorf("entry %d lacks something: %+v", i, e)
		}
	}
	slices.SortFunc(all, order)
	return all, nil
}

func order(a, b Entry) int {
	return cmp.Or(strings.Compare(a.Engine, b.Engine), compare(a.Version, b.Version), strings.Compare(a.Platform, b.Platform), strings.Compare(a.By, b.By))
}

// Of are the entries of an engine or a runtime.
func Of(engine string) (of []Entry) {
	for _, e := range All() {
		if e.Engine == engine {
			of = append(of, e)
		}
	}
	return of
}

// compare compares two versions by their numbers; what follows the first that is not a number,
// such as a distribution's own mark, does not count.
func compare(a, b string) int {
	return slices.Compare(numbers(a), numbers(b))
}

func numbers(version string) (n []int) {
	for part := range strings.SplitSeq(strings.TrimPrefix(version, "v"), ".") {
		digits := len(part) - len(strings.TrimLeft(part, "0123456789"))
		if digits == 0 || digits > 9 {
			break
		}
		k, _ := strconv.Atoi(part[:digits]) // these are digits
		n = append(n, k)
		if digits < len(part) {
			break
		}
	}
	return n
}

// Judge says how a version relates to those that were tested, as the end of a sentence
// about it: "tested", or "newer than any tested" and the like; "" where none was tested.
func Judge(engine, version, platform string) string {
	of := Of(engine)
	if len(of) == 0 || len(numbers(version)) == 0 {
		return ""
	}
	here, newest := "", of[len(of)-1].Version
	for _, e := range of {
		switch {
		case compare(e.Version, version) != 0:
		case e.Platform == platform:
			return "tested"
		default:
			here = "tested on " + e.Platform
		}
	}
	switch {
	case here != "":
		return here
	case compare(version, newest) > 0:
		return newer + " (" + newest + ")"
	case compare(version, of[0].Version) < 0:
		return "older than any tested (" + of[0].Version + ")"
	}
	return "not tested, which others are: " + strings.Join(versions(of), ", ")
}

const newer = "newer than any tested"

// Untested returns a sentence about programs that are newer than any tested, and about a
// platform on which none of them was tested; "" where neither is so. Programs of which
// no version was tested don't count: their adapters are unverified, which others report.
func Untested(programs []Program, platform string) string {
	var parts, platforms []string
	for _, p := range programs {
		for _, e := range Of(p.Name) {
			if !slices.Contains(platforms, e.Platform) {
				platforms = append(platforms, e.Platform)
			}
		}
		text := p.Name + " " + p.Version + " is " + Judge(p.Name, p.Version, platform)
		if strings.Contains(text, " is "+newer) && !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	if len(platforms) > 0 && platform != "" && !slices.Contains(platforms, platform) {
		slices.Sort(platforms)
		parts = append(parts, platform+" is another platform than those tested ("+strings.Join(platforms, ", ")+")")
	}
	return strings.Join(parts, "; ")
}

func versions(of []Entry) (v []string) {
	for _, e := range of {
		if !slices.Contains(v, e.Version) {
			v = append(v, e.Version)
		}
	}
	return v
}

// Note enters what was tested into a table's file; an older entry of the same goes.
func Note(path string, entries ...Entry) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	all, err := parse(text)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, e := range entries {
		all = slices.DeleteFunc(all, func(o Entry) bool { return order(o, e) == 0 })
		all = append(all, e)
	}
	slices.SortFunc(all, order)
	var out bytes.Buffer
	out.WriteString("[\n")
	for i, e := range all {
		line, err := json.Marshal(e)
		if err != nil {
			return err
		}
		out.Write(line)
		if i < len(all)-1 {
			out.WriteByte(',')
		}
		out.WriteByte('\n')
	}
	out.WriteString("]\n")
	return os.WriteFile(path, out.Bytes(), 0o644) //nolint:gosec // a source file
}
