package report

import (
	"errors"
	"fmt"
	"math"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/words"
)

// screened is a run of so many environments and workloads: two that are equal, one
// that fails at times and one always, one of twelve workloads that no baseline can
// run, and a check.
func screened(envs, works int) recordtest.Cells {
	var c recordtest.Cells
	c.Name, c.Seed, c.Blocks, c.PerBlock, c.Noise = "engines", 7, 8, 1, 0.03
	c.Envs = append(c.Envs, recordtest.Environment("native", "native", "native", nil), recordtest.Environment("floor", "floor", "floor", nil))
	if envs*works > 2000 {
		c.Blocks = 4 // too few for intervals of ratios, and a third of the time
	}
	engines := []string{"charliecloud", "bubblewrap", "podman", "docker", "containerd", "apptainer", "oci", "cri"}
	for i := range envs {
		name := engines[i%len(engines)]
		if i >= len(engines) {
			name += fmt.Sprintf("/%s/overlay-%d/rootless", []string{"crun", "runc", "runsc"}[i%3], i)
		}
		c.Envs = append(c.Envs, recordtest.Environment(name, engines[i%len(engines)], "", nil))
	}
	for i := range c.Envs {
		c.Envs[i].Inside = insideOf(&c.Envs[i])
	}
	c.Workloads = []record.Workload{{ID: "hello", Name: "hello", Title: "hello"}}
	if works > 1 {
		c.Workloads = nil
	}
	metrics := []record.Metric{
		{ID: "time", Unit: "ns", Better: record.LowerIsBetter, Title: "time"},
		{ID: "rate", Unit: "requests/s", Better: record.HigherIsBetter, Title: "requests"},
	}
	for i := range max(0, works-1) {
		id := fmt.Sprintf("work-%02d", i)
		c.Workloads = append(c.Workloads, record.Workload{ID: id, Name: id, Title: "The work number " + fmt.Sprint(i), Metrics: metrics[i%2 : i%2+1]})
	}
	if works > 1 {
		c.Workloads = append(c.Workloads, record.Workload{ID: "squeeze", Name: "squeeze", Title: "squeeze", Metrics: []record.Metric{
			{ID: "squeezed", Unit: "bytes", Better: record.LowerIsBetter, Title: "bytes squeezed", Kind: record.Check}, metrics[0]}})
	}
	at := func(e *record.Environment) int {
		return slices.IndexFunc(c.Envs, func(x recordtest.Env) bool { return x.ID == e.ID }) - 2
	}
	c.Value = func(e *record.Environment, w *record.Workload, metric string) (float64, bool) {
		i := float64(at(e))
		switch {
		case metric == "squeezed" && envs == 25 && at(e) == 7:
			return 1<<20 - 1, true
		case metric == "squeezed":
			return 1 << 20, true
		case i < 0 && strings.HasSuffix(w.ID, "3"):
			return 0, false
		case w.ID == "hello" && metric != "startup":
			return 0, false
		}
		if at(e) == 1 {
			i = 0 // as fast as the first
		}
		k := float64(slices.IndexFunc(c.Workloads, func(x record.Workload) bool { return x.ID == w.ID }))
		if works > 1 && int(k)%4 == 1 {
			i = 0
		}
		v := 3e6 * math.Exp(min(0.3, 6/float64(envs))*i+0.1*k)
		if metric == "rate" {
			return 1e9 / v, true
		}
		return v, true
	}
	c.Fails = func(e *record.Environment, w *record.Workload, block int) bool {
		return envs > 4 && (at(e) == 3 && block%3 == 2 || at(e) == envs-1)
	}
	c.Excluded = []record.Excluded{{ID: "lxd", Engine: "lxd", Kind: "unavailable", Reason: "LXD is not installed"}, {ID: "incus", Engine: "incus", Kind: "unavailable", Reason: "Incus is not installed"}}
	if envs == 25 { // no baseline ran
		c.Envs = c.Envs[2:]
		at = func(e *record.Environment) int {
			return slices.IndexFunc(c.Envs, func(x recordtest.Env) bool { return x.ID == e.ID })
		}
	}
	return c
}

// insideOf is what a payload sees in each of the engines: all namespaces its own and a
// filter, or less.
func insideOf(e *recordtest.Env) record.Inside {
	in := record.Inside{Namespaces: map[string]string{}, UID: "0:0", CapEff: "00000000a80425fb", Seccomp: "2", Kernel: "6.1.0"}
	for _, k := range []string{"mnt", "pid", "net", "ipc", "uts"} {
		in.Namespaces[k] = "own"
		if e.Engine == "charliecloud" && k != "mnt" || e.Engine == "apptainer" && k != "mnt" && k != "net" || e.Baseline == "native" {
			in.Namespaces[k] = "host"
		}
	}
	if slices.Contains([]string{"charliecloud", "apptainer", "bubblewrap", "native"}, e.Engine) {
		in.Seccomp = "0"
	}
	in.Namespaces["user"] = "host"
	return in
}

func screenResult(t *testing.T, s opener) *analyze.Result {
	t.Helper()
	res := fresh(t, s)
	res.Run.Host.CPUs = 2
	res.Run.Finished = res.Run.Started.Add(41 * time.Second)
	return res
}

func screenAt(t *testing.T, res *analyze.Result, width int) string {
	t.Helper()
	return render(t, "text", res, Options{Width: width, Screen: &Screen{Record: "plimsoll-run-1", Page: "plimsoll-run-1/report.html"}})
}

// The answer of any run fits on one screen, of which more rows are environments.
func TestScreen(t *testing.T) {
	for _, c := range []struct{ envs, works int }{{3, 1}, {25, 1}, {60, 1}, {3, 47}, {25, 47}, {60, 47}} {
		if testing.Short() && c.envs*c.works > 2000 {
			t.Logf("without %d environments of %d workloads: left out with -short", c.envs, c.works)
			continue
		}
		res := screenResult(t, screened(c.envs, c.works))
		for _, width := range []int{80, 120} {
			text := screenAt(t, res, width)
			isGolden(t, fmt.Sprintf("screen-%d-%d-%d.txt", c.envs, c.works, width), text)
			rows := c.envs + 2
			if c.works > 1 {
				rows = 0
			}
			if n := strings.Count(text, "\n"); n > max(40, rows+15) {
				t.Errorf("%d environments, %d workloads: %d lines", c.envs, c.works, n)
			}
		}
	}
}

// A baseline that cannot do a workload, and nobody in it fails: what is missing stands in
// its row.
func TestScreenWithoutBaseline(t *testing.T) {
	res, err := screenResult(t, screened(9, 5)).Narrow(analyze.Choice{Workloads: []string{"work-03"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, width := range []int{80, 120} {
		isGolden(t, fmt.Sprintf("screen-missing-%d.txt", width), screenAt(t, res, width))
	}
}

// No line is wider than the terminal, and what is to be pasted is one command.
func TestScreenFits(t *testing.T) {
	for _, s := range []opener{recordtest.Typical(), recordtest.Audited(), recordtest.Suite(), pull(), values(), few(), steps(), screened(3, 1), screened(9, 30)} {
		res := result(t, s)
		for width := minWidth; width <= 200; width += 16 {
			text := render(t, "text", res, Options{Width: width, Screen: &Screen{Record: "a b"}})
			for i, l := range strings.Split(text, "\n") {
				if n := utf8.RuneCountInString(l); n > width {
					t.Fatalf("%s, %d columns: line %d has %d: %s", res.Run.Study, width, i+1, n, l)
				}
			}
		}
	}
	res := fresh(t, small())
	long := "sh -c '" + strings.Repeat("true;  ", 100) + "echo a'"
	res.Run.Repeat = "plimsoll run 'a study of mine.yaml' --engine docker,podman --until 2% --seed 12 -- " + long
	want := "run|a study of mine.yaml|--engine|docker,podman|--until|2%|--seed|12|--|sh|-c|" + long[7:len(long)-1] + "|"
	for _, width := range []int{40, 60, 80, 200} {
		for lead, text := range map[string]string{
			"  Run again   ": render(t, "text", res, Options{Width: width, Screen: &Screen{Record: "plimsoll-run-1"}}),
			"repeat   ":      render(t, "text", res, Options{Width: width}),
			"Repeat: `":      render(t, "markdown", res, Options{}),
		} {
			_, again, ok := strings.Cut(text, "\n"+lead)
			if strings.HasSuffix(lead, "`") {
				again, _, _ = strings.Cut(again, "`")
			}
			again, _, _ = strings.Cut(again, "\n\n")
			out, err := exec.Command("sh", "-c", "plimsoll() { printf '%s|' \"$@\"; }; "+again).Output()
			if !ok || err != nil || string(out) != want {
				t.Errorf("%d columns, %s: %v %q\n%s", width, lead, err, out, text)
			}
		}
	}
}

// What a report is narrowed to keeps its numbers, and a word that is not there is
// told from those that are.
func TestNarrow(t *testing.T) {
	s := screened(9, 30)
	for i := range s.Envs { // the remark on what engines isolate is about all of them
		s.Envs[i].Inside = record.Inside{}
	}
	res := result(t, s)
	part, err := res.Narrow(analyze.Choice{Workloads: []string{"work-04"}, Engines: []string{"docker", "lxd"}})
	var choice *analyze.ChoiceError
	if !errors.As(err, &choice) || choice.Word != "lxd" || !slices.Contains(choice.Known, "docker") {
		t.Fatalf("%v %v", part, err)
	}
	if part, err = res.Narrow(analyze.Choice{Workloads: []string{"work-04"}, Engines: []string{"docker"}, Envs: []string{"docker"}}); err != nil {
		t.Fatal(err)
	}
	var kept []string
	for _, l := range strings.Split(render(t, "csv", res, Options{}), "\n") {
		if strings.Contains(l, ",work-04,docker,") || strings.Contains(l, ",work-04,native,") || strings.Contains(l, ",work-04,floor,") {
			kept = append(kept, l)
		}
	}
	got := strings.Split(strings.TrimSpace(render(t, "csv", part, Options{})), "\n")[1:]
	if len(kept) == 0 || !slices.Equal(got, kept) {
		t.Errorf("narrowed to\n%s\nnot to\n%s", strings.Join(got, "\n"), strings.Join(kept, "\n"))
	}
	for _, format := range Formats() {
		if text := render(t, format, part, Options{}); strings.Contains(text, "podman") || strings.Contains(text, "work-05") || !strings.Contains(text, "docker") {
			t.Errorf("%s:\n%s", format, text)
		}
	}
}

// A metric can be named as it stands in a table.
func TestMetricByTitle(t *testing.T) {
	res := result(t, small())
	if got, want := render(t, "text", res, Options{Metric: "start-up"}), render(t, "text", res, Options{Metric: "startup"}); got != want {
		t.Error(got)
	}
	var b strings.Builder
	if err := Write(&b, "text", res, Options{Metric: "startpu"}); err == nil || !strings.Contains(err.Error(), `no metric "startpu": there is bootstrap`) {
		t.Error(err)
	}
}

// The labels of an axis stand apart, each once and in order, and what differs by less
// than the least span does not fill the picture.
func TestAxisLabels(t *testing.T) {
	cell := func(v float64) *analyze.Cell {
		return &analyze.Cell{Median: &sample.Estimate{Value: v}}
	}
	for _, lo := range []float64{0.0019, 1, 4.99, 19, 999, 3.5e6, 1.9e10} {
		for _, factor := range []float64{1, 1.0001, 1.01, 1.2, 1.7, 4, 60, 5e4} {
			for _, room := range []int{minPlot, 24, 40, 60} {
				for _, by := range []float64{1, 1e6} {
					a, ok := axisFor([]*analyze.Cell{cell(lo * by), cell(lo * by * factor)}, room)
					if !ok {
						t.Fatalf("no axis from %g by %g", lo, factor)
					}
					line := a.ticks(words.Unit{By: by})
					labels := strings.Fields(line)
					if len(labels) < 1 || len([]rune(line)) > room {
						t.Errorf("from %g by %g in %d: %q", lo, factor, room, line)
					}
					last := 0.0
					for _, l := range labels {
						v, err := strconv.ParseFloat(l, 64)
						if err != nil || v <= last {
							t.Errorf("from %g by %g in %d: %q", lo, factor, room, line)
						} else if x := a.at(v * by); !strings.HasPrefix(line[x:], l) {
							t.Errorf("from %g by %g in %d: %s stands beside its place in %q", lo, factor, room, l, line)
						}
						last = v
					}
					if d := a.at(lo*by*factor) - a.at(lo*by); factor <= 1.01 && d > room/8+1 {
						t.Errorf("a factor of %g is %d of %d characters", factor, d, room)
					}
				}
			}
		}
	}
}

// Larger is worse beside every metric, and what the columns are is said.
func TestScreenHasOneDirection(t *testing.T) {
	res, err := screenResult(t, screened(3, 5)).Narrow(analyze.Choice{Workloads: []string{"work-03"}})
	if err != nil {
		t.Fatal(err)
	}
	text := screenAt(t, res, 120)
	if !strings.Contains(text, "higher is better") || !strings.Contains(strings.Join(strings.Fields(text), " "), "× worse: median over blocks") {
		t.Errorf("\n%s", text)
	}
	_, rows, _ := strings.Cut(text, "× worse  ")
	if rows = regexp.MustCompile(`(?m)^ *3  podman .*`).FindString(rows); !regexp.MustCompile(`\] +1\.\d+ |\] +[2-9]\.\d `).MatchString(rows) {
		t.Errorf("the last is not worse than the first by %q in\n%s", rows, text)
	}
}

// Abbreviations are told apart, give the whole name back, and leave engines alone.
func TestAbbreviated(t *testing.T) {
	names := []string{"native", "docker/cpu-limit-0.5/memory-limit-64mib", "docker/cpu-limit-1/memory-limit-64mib", "docker/cpu-limit-0.5/memory-limit-none",
		"podman/crun/overlay/rootless", "podman/runc/overlay/rootless", "podman/runc/overlay/rootful"}
	for _, room := range []int{8, 16, 20, 24, 28, 40} {
		short, said := abbreviated(names, room)
		seen := map[string]bool{}
		for i, s := range short {
			back := s
			for _, a := range said {
				back = strings.ReplaceAll(back, a.short, a.part)
			}
			if seen[s] || back != names[i] || !strings.HasPrefix(s, strings.Split(names[i], "/")[0]) {
				t.Errorf("%d characters: %s is %q, of %v", room, names[i], s, said)
			}
			seen[s] = true
		}
		for i, a := range said {
			for _, b := range said[:i] {
				if alike(a.short, b.short) {
					t.Errorf("%d characters: %v and %v are taken for each other", room, a, b)
				}
			}
		}
		if room >= 40 && len(said) > 0 {
			t.Errorf("with room for all %v is abbreviated", said)
		}
		if room == 24 && len(said) < 2 {
			t.Errorf("with 24 characters only %v is abbreviated", said)
		}
	}
}

// One name that has no room is shortened by a part that others have too, though these
// have room; and no form of the table gives two environments one name where a narrower
// form keeps them apart.
func TestAbbreviatesForOneName(t *testing.T) {
	names := []string{"apptainer/sandbox/network-host/rootless", "apptainer/sandbox/rootful", "charliecloud/directory/network-host", "charliecloud/squashfs/network-host"}
	short, said := abbreviated(names, 36)
	if slices.ContainsFunc(short, func(n string) bool { return words.Width(n) > 36 }) || len(said) != 1 {
		t.Errorf("36 characters: %q, of %v", short, said)
	}
	if !distinct(names, 0) || !distinct(names, 30) || distinct(names, 20) {
		t.Errorf("in 20 characters two of %q are alike, and in 30 none", names)
	}
}

// A count that proves the work is said as one counts.
func TestProof(t *testing.T) {
	for want, v := range map[string]float64{"0": 0, "3": 3, "20000": 20000, "12345678": 12345678} {
		if got := proof(v, "count"); got != want {
			t.Errorf("%v is %s", v, got)
		}
	}
	if got := proof(1<<20, "bytes"); got != "1.00 MiB" {
		t.Error(got)
	}
}

// A check that agrees has a line in every format for people, and no ranking; one that
// does not is a failure.
func TestChecksHaveALine(t *testing.T) {
	for _, format := range []string{"text", "markdown"} {
		good := render(t, format, result(t, screened(3, 3)), Options{})
		if !strings.Contains(good, "Same work: bytes squeezed: 1.00 MiB in all 5 environments.") || strings.Contains(good, "bytes squeezed; lower") || strings.Contains(good, "Failure") {
			t.Errorf("%s:\n%s", format, good)
		}
		if bad := render(t, format, result(t, screened(25, 3)), Options{}); !strings.Contains(strings.Join(strings.Fields(bad), " "), "Failure: not the same work was done everywhere: squeeze: bytes squeezed.") {
			t.Errorf("%s:\n%s", format, bad)
		}
	}
}

// The first two are of one engine: the best of another one is named too, and no
// environment is held against its own engine's name. A doubt is never cut.
func TestScreenOfOneEngineFirst(t *testing.T) {
	s := screened(4, 1)
	for i, name := range []string{"charliecloud/directory", "charliecloud/squashfs", "bubblewrap", "docker"} {
		engine, _, _ := strings.Cut(name, "/")
		s.Envs[2+i] = recordtest.Environment(name, engine, "", nil)
	}
	s.Fails = nil
	value := s.Value
	s.Value = func(e *record.Environment, w *record.Workload, metric string) (float64, bool) {
		v, ok := value(e, w, metric)
		if e.ID == "charliecloud/squashfs" {
			v *= 1.2
		}
		return v, ok
	}
	res := screenResult(t, s)
	doubt := "others had work " + strings.Repeat("again and ", 8) + "again"
	res.Run.Host.Remarks = []record.Remark{{Code: "busy", Level: "warning", Text: doubt}}
	got := strings.Join(strings.Fields(screenAt(t, res, 80)), " ")
	for _, want := range []string{"1.16× slower (1.09–1.18) Then bubblewrap", "× slower than charliecloud (1.72–1.86) Slowest docker", doubt} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not on the screen:\n%s", want, got)
		}
	}
}
