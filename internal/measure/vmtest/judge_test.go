//go:build !unit

package vmtest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/record"
)

// What the studies in testdata ask for, as the payload reads it inside.
const (
	memoryAsked = "134217728"
	cpuMaxAsked = "50000 100000"
)

// machine is a root file system with Plimsoll, a script and studies.
func machine(t *testing.T, script string, studies ...string) *root {
	t.Helper()
	need(t)
	r := newRoot(t)
	r.build("./cmd/plimsoll", "/usr/bin/plimsoll")
	r.copy("testdata/common.sh", "/common.sh")
	r.copy("testdata/"+script+".sh", "/init")
	for _, s := range studies {
		r.copy("testdata/"+s+".yaml", "/"+s+".yaml")
	}
	return r
}

// results are what a machine left.
type results struct {
	t   *testing.T
	dir string
}

func (r results) text(name string) string {
	r.t.Helper()
	text, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}

// ended checks the exit status of what a script did, and shows what it said
// where it is another one.
func (r results) ended(name string, want ...string) {
	r.t.Helper()
	r.t.Logf("%s said:\n%s", name, r.text(name+".err"))
	if got := strings.TrimSpace(r.text(name + ".status")); !slices.Contains(want, got) {
		r.t.Errorf("%s ended with status %s, want %v\n%s\n%s", name, got, want, r.text(name+".out"), r.text(name+".err"))
	}
}

// doctor reads what was said of the machine; status 5 is a refusal to measure
// on it, which is no concern here.
func (r results) doctor(name, cgroup string) record.Host {
	r.t.Helper()
	r.ended(name, "0", "5")
	var h record.Host
	if err := json.Unmarshal([]byte(r.text(name+".out")), &h); err != nil {
		r.t.Fatalf("%s: %v", name, err)
	}
	if h.Cgroup != cgroup {
		r.t.Errorf("%s: the control groups are %q, want %q", name, h.Cgroup, cgroup)
	}
	return h
}

// measured is a record that was copied out.
type measured struct {
	*record.Run
	facts   map[string]map[string]string // by environment
	insides map[string][]record.Inside
	trials  map[string]int
	left    map[string]string // out, and why
}

// record reads a run's record and demands that every trial has worked.
func (r results) record(name string) measured {
	r.t.Helper()
	rd, err := record.Open(filepath.Join(r.dir, name))
	if err != nil {
		r.t.Fatal(err)
	}
	m := measured{Run: rd.Run(), facts: map[string]map[string]string{}, insides: map[string][]record.Inside{},
		trials: map[string]int{}, left: map[string]string{}}
	for _, e := range m.Environments {
		m.facts[e.ID] = e.Facts
	}
	for _, x := range m.Excluded {
		m.left[x.ID] = x.Reason + " " + x.Fix
	}
	for trial, err := range rd.Trials() {
		if err != nil {
			r.t.Fatal(err)
		}
		if !trial.OK() {
			r.t.Errorf("%s: a trial of %s failed: %s: %s", name, trial.Env, trial.Failure.Class, trial.Failure.Text)
		}
		m.trials[trial.Env]++
	}
	all, err := rd.Insides()
	if err != nil {
		r.t.Fatal(err)
	}
	for _, in := range all {
		m.insides[in.Env] = append(m.insides[in.Env], in)
	}
	return m
}

// id is that of the engine's only environment.
func (m measured) id(t *testing.T, engine string) string {
	t.Helper()
	for _, e := range m.Environments {
		if e.Engine == engine {
			return e.ID
		}
	}
	t.Errorf("nothing of %s was measured: %v", engine, m.left)
	return engine
}

// limited checks that an environment has run under the limits that were asked
// for, as its payload read them, and that the facts say who limits and by
// which version.
func (m measured) limited(t *testing.T, env, by, version string, want map[string]string) {
	t.Helper()
	facts := m.facts[env]
	if m.trials[env] == 0 {
		t.Errorf("%s has no trial: %s", env, m.left[env])
		return
	}
	if facts["limits"] != by || facts["cgroup"] != version {
		t.Errorf("%s: the facts say limits %q by cgroup %q, want %q by %q", env, facts["limits"], facts["cgroup"], by, version)
	}
	if len(m.insides[env]) == 0 {
		t.Errorf("%s: nothing is known of the inside", env)
	}
	for _, in := range m.insides[env] {
		for key, value := range want {
			if in.More[key] != value {
				t.Errorf("%s: inside, %s is %q, want %q", env, key, in.More[key], value)
			}
		}
	}
}

// same compares what was there before and after; the new lines that engines
// leave for ever by themselves are allowed.
func (r results) same(what string, allowed ...string) {
	r.t.Helper()
	before, after := strings.Fields(r.text(what+"-before")), strings.Fields(r.text(what+"-after"))
	for _, line := range after {
		if i := slices.Index(before, line); i >= 0 {
			before = slices.Delete(before, i, i+1)
		} else if !slices.Contains(allowed, line) {
			r.t.Errorf("%s: %s is left", what, line)
		}
	}
}
