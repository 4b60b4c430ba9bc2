package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
)

// day is one run of a small study, changed, in files.
func day(t *testing.T, seed uint64, change func(*recordtest.Spec)) string {
	t.Helper()
	s := recordtest.Typical()
	s.Seed, s.Blocks, s.StealEvery = seed, 12, 0
	s.Envs = []recordtest.Env{s.Envs[1], s.Envs[2], s.Envs[5], s.Envs[9]} // native, floor, runc, podman
	if change != nil {
		change(&s)
	}
	return s.Write(t)
}

// edited puts what f makes of a file of a run in its place.
func edited(t *testing.T, dir, name string, f func([]byte) []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	b, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, f(b), 0o644)
	}
	require.NoError(t, err)
	return dir
}

// TestNothingPassesSilently: what is missing, empty, torn, of another machine
// or of another version is said by the gate and by whatever else reads it, and
// never passes.
func TestNothingPassesSilently(t *testing.T) {
	base := day(t, 1, nil)
	swap := func(a, b string) func([]byte) []byte {
		return func(x []byte) []byte { return bytes.Replace(x, []byte(a), []byte(b), 1) }
	}
	keep := func(share float64) func([]byte) []byte {
		return func(x []byte) []byte { return x[:int(share*float64(len(x)))] }
	}
	spoil := func(x []byte) []byte {
		lines := bytes.SplitAfter(x, []byte("\n"))
		lines[40] = []byte("{\"seq\":40,\"blo\n")
		return bytes.Join(lines, nil)
	}
	change := func(x []byte) []byte { // one digit of a stamp, in line 31
		lines := bytes.SplitAfter(x, []byte("\n"))
		i := bytes.Index(lines[30], []byte(`"request":`)) + len(`"request":`)
		lines[30][i] = '1' + (lines[30][i]-'0')%9
		return bytes.Join(lines, nil)
	}
	lose := func(x []byte) []byte {
		lines := bytes.SplitAfter(x, []byte("\n"))
		return bytes.Join(append(lines[:30:30], lines[31:]...), nil)
	}
	cut := func(x []byte) []byte {
		return bytes.Join(bytes.SplitAfter(x, []byte("\n"))[:60], nil)
	}
	whole := func() string { return day(t, 2, nil) }
	empty, file := t.TempDir(), filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, []byte("not a run"), 0o644))
	for _, c := range []struct {
		name, dir string
		status    int    // of the gate
		gate      string // what it says
		read      string // what report says; "" where it is the gate's affair
	}{
		{"the same", whole(), 0, "gate: pass", ""},
		{"no directory", filepath.Join(empty, "nowhere"), 1, "/nowhere; give the directory that `plimsoll run -o DIR` wrote", "give the directory"},
		{"a directory that is no run", empty, 1, "is not a run: it has no run.json", "is not a run"},
		{"a file", file, 1, "is a file; give the directory", "is a file"},
		{"a newer format", edited(t, whole(), record.RunFile, swap(`"format": 1`, `"format": 99`)), 1, "has format 99, written by a newer plimsoll; this one reads formats up to 1", "has format 99"},
		{"no format", edited(t, whole(), record.RunFile, swap(`"format": 1`, `"fromat": 1`)), 1, "is not plimsoll's: it names no format version", "names no format version"},
		{"half of run.json", edited(t, whole(), record.RunFile, keep(0.5)), 1, "this file is damaged", "this file is damaged"},
		{"an empty run.json", edited(t, whole(), record.RunFile, keep(0)), 1, "is empty", "is empty"},
		{"no trials", edited(t, whole(), record.TrialsFile, keep(0)), 1, "NEW (run 0a1b2c3d) has no counted trial that succeeded", "no trial was recorded"},
		{"half of the trials", edited(t, whole(), record.TrialsFile, keep(0.5)), 4, "NEW is marked as done but is incomplete: the last line of trials.jsonl is torn", "torn-tail"},
		{"the first trials", edited(t, whole(), record.TrialsFile, cut), 4, "NEW is marked as done but is incomplete: run.json says that 104 trials were recorded, and trials.jsonl holds 60", "of the 24 planned"},
		{"another digit", edited(t, whole(), record.TrialsFile, change), 1, "trials.jsonl:31: this line is damaged: its sum is ", "trials.jsonl:31: this line is damaged: its sum is "},
		{"a line less", edited(t, whole(), record.TrialsFile, lose), 1, "trials.jsonl:31: this line is damaged: its sum is ", "trials.jsonl:31: this line is damaged: its sum is "},
		{"a torn line", edited(t, whole(), record.TrialsFile, spoil), 1, "trials.jsonl:41: this line is damaged", "trials.jsonl:41: this line is damaged"},
		{"killed", day(t, 2, func(s *recordtest.Spec) { s.Until = 80 }), 4, "NEW is not done (interrupted)", "incomplete"},
		{"another machine", edited(t, whole(), record.RunFile, swap("Imaginary 3000", "Another 4000")), 2, "machine cpu: Imaginary 3000, now Another 4000", ""},
		{"another order", edited(t, whole(), record.RunFile, swap(`"order": "random"`, `"order": "sequential"`)), 2, "protocol order: random, now sequential", "the order of the trials was not random"},
		{"an environment less", day(t, 2, func(s *recordtest.Spec) { s.Envs = s.Envs[:3] }), 3, "NEW has no environment podman", ""},
		{"every trial of one fails", day(t, 2, func(s *recordtest.Spec) { s.Envs[3].StartUp, s.Envs[3].Class = 0, record.Crash }), 3, "every trial failed", "every trial failed"},
		{"other workloads", day(t, 2, func(s *recordtest.Spec) { s.Workloads = []record.Workload{{ID: "other"}} }), 1, "nothing in common", ""},
	} {
		status, out, errs := drive("compare", base, c.dir, "--filter", "metric=startup", "--fail-above", "10%", "--strict")
		if said := strings.Join(strings.Fields(out+errs), " "); status != c.status || !strings.Contains(said, c.gate) {
			t.Errorf("%s: the gate ends with status %d, want %d and %q\n%s%s", c.name, status, c.status, c.gate, out, errs)
		}
		// The other way round nothing is as it should be, either.
		if status, out, errs = drive("compare", c.dir, base, "--fail-above", "10%", "--filter", "metric=startup", "--strict"); c.status == 1 && status != 1 {
			t.Errorf("%s, as BASE: status %d\n%s%s", c.name, status, out, errs)
		}
		if c.read == "" {
			continue
		}
		if _, out, errs = drive("report", c.dir); !strings.Contains(strings.Join(strings.Fields(out+errs), " "), c.read) {
			t.Errorf("%s: the report does not say %q\n%s%s", c.name, c.read, out, errs)
		}
		if c.status == 1 && c.name != "no trials" {
			for _, args := range [][]string{{"factors", c.dir}, {"export", c.dir}, {"report", c.dir, "--format", "json"}} {
				if status, out, errs := drive(args...); status != 1 || !strings.Contains(errs, c.read) {
					t.Errorf("%s: %s ends with status %d\n%s%s", c.name, args[0], status, out, errs)
				}
			}
		}
	}
}

// TestGateNamesTheCell: removal takes a tenth longer in runc, and the gate says
// that and nothing else, in every form.
func TestGateNamesTheCell(t *testing.T) {
	long := func(s *recordtest.Spec) { s.Blocks = 40 }
	base := day(t, 1, long)
	next := day(t, 2, func(s *recordtest.Spec) {
		long(s)
		s.Envs[2].More = map[record.Event]float64{record.Removed: 1.325} // 1.3 of the start-up, and 0.12 ms of 24
	})
	for format, c := range map[string]struct{ mark, want string }{
		"github": {"::error ", "title=removal of hello in runc"},
		"junit":  {"<failure ", "worse by more than 5 %"},
		"text":   {"fail: ", "removal of hello in runc: worse by more than 5 %"},
	} {
		status, out, errs := drive("compare", base, next, "--fail-above", "5%", "--format", format)
		if status != 3 || strings.Count(out, c.mark) != 1 || !strings.Contains(out, c.want) {
			t.Errorf("%s: status %d, %d failures\n%s%s", format, status, strings.Count(out, c.mark), out, errs)
		}
	}
}

// TestGateOnFailures: that trials failed which did not in BASE is said in every
// form, and fails the gate above the share that is let pass.
func TestGateOnFailures(t *testing.T) {
	base := day(t, 1, nil)
	next := day(t, 2, func(s *recordtest.Spec) { s.Envs[2].FailEvery, s.Envs[2].Class = 4, record.TimeOut })
	const line = "runc of hello: 0 of 24 failed in BASE, 6 of 24 in NEW: 25 % more of its trials failed than in BASE, and 5 % are tolerated"
	for _, c := range []struct {
		args   []string
		status int
		want   []string
	}{
		{nil, 3, []string{"fail: " + line, "gate: fail"}},
		{[]string{"--allow-failures", "25%"}, 0, []string{"pass: runc of hello: 0 of 24 failed in BASE, 6 of 24 in NEW", "more-failures", "gate: pass"}},
		{[]string{"--format", "markdown"}, 3, []string{"fail: runc of hello"}},
		{[]string{"--format", "json"}, 3, []string{`"allowed": 0.05`, `"state": "fail"`, "25 % more of its trials failed"}},
		{[]string{"--format", "junit"}, 3, []string{`name="failures"`, `<failure message="` + line}},
		{[]string{"--format", "junit", "--allow-failures", "25%"}, 0, []string{"<system-out>runc of hello: 0 of 24"}},
		{[]string{"--format", "github"}, 3, []string{"::error title=failures of hello in runc::", "25 %25 more"}},
		{[]string{"--format", "github", "--allow-failures", "25%"}, 0, []string{"::warning title=failures of hello in runc::"}},
		{[]string{"--allow-failures", "0"}, 2, []string{"--allow-failures is \"0\": expected a percentage"}},
		{[]string{"--allow-failures", "101%"}, 2, []string{"expected a percentage"}},
	} {
		status, out, errs := drive(append([]string{"compare", base, next, "--filter", "metric=startup", "--fail-above", "50%"}, c.args...)...)
		if status != c.status {
			t.Errorf("%v: status %d, want %d\n%s%s", c.args, status, c.status, out, errs)
		}
		for _, want := range c.want {
			if !strings.Contains(strings.Join(strings.Fields(out+errs), " "), want) {
				t.Errorf("%v: it does not say %q\n%s%s", c.args, want, out, errs)
			}
		}
	}
	if status, _, errs := drive("compare", base, next, "--allow-failures", "5%"); status != 2 || !strings.Contains(errs, "are for a gate") {
		t.Errorf("without a gate: status %d, %s", status, errs)
	}
}
