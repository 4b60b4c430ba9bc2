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

// From returns the entries of an environment that passed, by its facts: of its engine, and
// of the runtime below that. An engine that is nothing but its runtime has none of its own.
func From(engine string, facts map[string]string, at Place, by, date string) (entries []Entry) {
	at.Kernel, _, _ = strings.Cut(at.Kernel, "-")
	add := func(name, version string) {
		if name != "" && len(numbers(version)) > 0 {
			entries = append(entries, Entry{name, version, at.Platform, at.Kernel, at.Cgroup, at.Init, by, date})
		}
	}
	add(facts["runtime"], facts["runtime-version"])
	if facts["version"] != facts["runtime-version"] {
		add(engine, facts["version"])
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
	return cmp.Or(strings.Compare(a.Engine, b.Engine), Compare(a.Version, b.Version), strings.Compare(a.Platform, b.Platform), strings.Compare(a.By, b.By))
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

// Compare compares two versions by their numbers; what follows the first that is no number,
// such as a distribution's own mark, does not count.
func Compare(a, b string) int {
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
		case Compare(e.Version, version) != 0:
		case e.Platform == platform:
			return "tested"
		default:
			here = "tested on " + e.Platform
		}
	}
	switch {
	case here != "":
		return here
	case Compare(version, newest) > 0:
		return "newer than any tested (" + newest + ")"
	case Compare(version, of[0].Version) < 0:
		return "older than any tested (" + of[0].Version + ")"
	}
	return "not tested, which others are: " + strings.Join(versions(of), ", ")
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
