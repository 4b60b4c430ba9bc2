package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/findings"
)

// claimed is a run whose study has a claim of each verdict, one with an answer,
// one of the feature table and one that cannot be tested.
func claimed() recordtest.Cells {
	c := recordtest.Cells{Noise: 0.03, Spec: recordtest.Spec{Name: "claimed", Seed: 9, Blocks: 12, Warmup: 1, PerBlock: 1, Shared: 0.03}}
	truth := map[string]float64{"native": 0.6e6, "docker": 205e6, "docker/off": 201e6, "podman": 131e6, "charliecloud": 3.4e6, "apptainer": 60e6}
	for _, e := range []struct{ id, engine, baseline, seccomp string }{
		{"native", "native", "native", ""}, {"docker", "docker", "", ""}, {"docker/off", "docker", "", "off"}, {"podman", "podman", "", ""},
		{"charliecloud", "charliecloud", "", ""}, {"apptainer", "apptainer", "", ""},
	} {
		levels := map[string]string{}
		if e.seccomp != "" {
			levels["seccomp"] = e.seccomp
		}
		c.Envs = append(c.Envs, recordtest.Environment(e.id, e.engine, e.baseline, levels))
	}
	score := record.Metric{ID: "score", Unit: "score", Better: record.HigherIsBetter, Title: "score", What: "how fast it was"}
	size := record.Metric{ID: "footprint", Unit: "bytes", Better: record.LowerIsBetter, Title: "footprint", What: "what it takes"}
	c.Workloads = []record.Workload{{ID: "hello", Name: "hello", Title: "hello"}, {ID: "python", Name: "python", Title: "python", Metrics: []record.Metric{score, size}}}
	c.Excluded = []record.Excluded{{ID: "balena", Engine: "balena", Kind: "unavailable", Reason: "balenaEngine is not installed.", Fix: "see https://docs.balena.io"}}
	c.Value = func(e *record.Environment, w *record.Workload, m string) (float64, bool) {
		switch {
		case w.ID == "hello" && m == "startup":
			return truth[e.ID], true
		case w.ID == "python" && m == "score":
			return 100, true
		case w.ID == "python" && m == "footprint":
			return 15.2e6, e.Baseline == ""
		}
		return 0, false
	}
	below := func(text string, v float64) *record.Range { return &record.Range{Text: text, Max: &v, MaxOpen: true} }
	engines := func(names ...string) map[string][]string { return map[string][]string{"engine": names} }
	off, on := engines("docker"), engines("docker")
	off["seccomp"], on["seccomp"] = []string{"off"}, []string{"default"}
	hello, python := record.WorkloadChoice{Names: []string{"hello"}}, record.WorkloadChoice{Names: []string{"python"}}
	c.Claims = []record.Claim{
		{ID: "baresi2024/6a", Says: "Charliecloud starts faster than Docker, Podman and balenaEngine.",
			Tests:   []record.ClaimTest{{Of: engines("charliecloud"), To: engines("docker", "podman", "balena"), Workload: hello, Metric: "startup", Ratio: below("< 1", 1)}},
			Differs: []record.StandIn{{Aspect: "instrument", Workload: hello, Metrics: []string{"startup"}, Paper: "a packet to a server on the host", Here: "a word through a pipe"}},
			Published: []record.PublishedValue{
				{Source: "baresi2024", Table: "Table 3", Engine: "docker", Image: "ubuntu:18.04", Metric: "start"},
				{Source: "baresi2024", Table: "Table 3", Engine: "charliecloud", Image: "ubuntu:18.04", Metric: "start"},
				{Source: "baresi2024", Table: "Table 3", Engine: "podman", Image: "ubuntu:18.04", Metric: "start"}}},
		{ID: "baresi2024/9b", Says: "Python programs lose 29 % in Docker and Podman.", Why: "A seccomp filter may cost it.",
			Tests: []record.ClaimTest{{Of: map[string][]string{"engine": {"docker", "podman"}, "seccomp": {"default"}}, Baseline: "native", Workload: python, Metric: "score", Ratio: below("< 0.9", 0.9)}},
			Answers: []record.ClaimAnswer{{Test: record.ClaimTest{Of: off, To: on, Workload: python, Metric: "score", Ratio: &record.Range{Text: "> 1.05", Min: new(1.05), MinOpen: true}},
				Supported: "The filter costs it.", Contradicted: "Without the filter nothing changes by 5 %."}},
			Published: []record.PublishedValue{{Source: "baresi2024", Table: "Table 7", Engine: "docker", Workload: "pybench"}}},
		{ID: "baresi2024/7c", Says: "A container takes 15 to 30 MB of memory.",
			Tests: []record.ClaimTest{{Of: engines("docker", "podman"), Workload: python, Metric: "footprint", Value: &record.Range{Text: "15MB..30MB", Min: new(15e6), Max: new(30e6), Unit: "bytes"}},
				{Of: engines("balena"), Workload: python, Metric: "footprint", Value: &record.Range{Text: "15MB..30MB", Min: new(15e6), Max: new(30e6), Unit: "bytes"}}},
			Published: []record.PublishedValue{{Source: "baresi2024", Table: "Table 5", Engine: "docker", Image: "ubuntu:18.04"}}},
		{ID: "baresi2024/5", Says: "Security is as in the feature table.", Features: "Security"},
		{ID: "baresi2024/10a", Says: "MPI has no overhead.", Needs: "MPI programs"},
		{ID: "arleskog2023/2", Says: "The throughput between two pods is the same.", Why: "The plug-in may make it.",
			Answers: []record.ClaimAnswer{{Test: record.ClaimTest{Of: engines("containerd"), Vary: "network", Workload: record.WorkloadChoice{Names: []string{"iperf3"}}, Metric: "throughput", Ratio: below("< 1.1", 1.1)},
				Supported: "It is the plug-in.", Command: "plimsoll run arleskog2023 --scale quick --part why-plugin"}},
			Tests:     []record.ClaimTest{{Of: engines("cri"), Vary: "endpoint", Workload: record.WorkloadChoice{Names: []string{"iperf3"}}, Metric: "throughput", Ratio: below("< 1.1", 1.1)}},
			Published: []record.PublishedValue{{Source: "arleskog2023", Text: "no difference"}}},
	}
	return c
}

func claimedFindings(t *testing.T) *analyze.Findings {
	t.Helper()
	res := result(t, claimed())
	features := &record.Features{Schema: 1, Rows: []record.FeatureRow{
		{ID: "rootless", Group: "Security", Feature: "Rootless executions", Cells: map[string]record.FeatureCell{"docker": {Value: "yes"}, "podman": {Value: "yes"}, "apptainer": {Value: "untried"}}},
		{ID: "signed-images", Group: "Security", Feature: "Signed container images", Cells: map[string]record.FeatureCell{"docker": {Value: "partial", Why: "the option is known; there is no Notary service here to see it refuse", Lacking: "there is no Notary service"}}},
		{ID: "vpn", Group: "Security", Feature: "VPN support", Cells: map[string]record.FeatureCell{"docker": {Value: "yes", Why: "a network driver has it"}}},
	}}
	return findings.Judge([]*analyze.Result{res}, res.Claims, features)
}

func TestFindingsGolden(t *testing.T) {
	f := claimedFindings(t)
	for _, c := range []struct {
		name, format, claim string
		opts                Options
	}{
		{"findings.txt", "text", "", Options{}},
		{"findings-60.txt", "text", "", Options{Width: 60, ASCII: true}},
		{"findings-color.txt", "text", "", Options{Color: true, Width: 120}},
		{"findings.md", "markdown", "", Options{}},
		{"findings.csv", "csv", "", Options{}},
		{"finding.txt", "text", "9b", Options{}},
		{"finding-60.txt", "text", "6a", Options{Width: 60}},
		{"finding-features.txt", "text", "5", Options{}},
		{"finding-features.csv", "csv", "5", Options{}},
		{"finding.md", "markdown", "baresi2024/9b", Options{}},
		{"finding.csv", "csv", "9b", Options{}},
	} {
		var b bytes.Buffer
		require.NoError(t, WriteFindings(&b, c.format, f, c.claim, c.opts))
		isGolden(t, c.name, b.String())
	}
	isGolden(t, "claimed.txt", render(t, "text", result(t, claimed()), Options{NoPlot: true}))
	if err := WriteFindings(&bytes.Buffer{}, "text", f, "6b", Options{}); err == nil || !strings.Contains(err.Error(), `no claim "6b"`) {
		t.Error(err)
	}
	if err := WriteFindings(&bytes.Buffer{}, "latex", f, "", Options{}); err == nil {
		t.Error("there is no such format")
	}
}

// What was published is never in a column of what was measured: in CSV and
// JSON it has fields of its own, in the text it stands in quotation marks.
func TestPublishedApart(t *testing.T) {
	f := claimedFindings(t)
	var b bytes.Buffer
	require.NoError(t, WriteFindings(&b, "csv", f, "", Options{}))
	all, err := csv.NewReader(&b).ReadAll()
	require.NoError(t, err)
	for _, r := range all[1:] {
		for i, cell := range r {
			if strings.Contains(cell, "871") != (all[0][i] == "published" && r[0] == "baresi2024/6a") {
				t.Errorf("%s of %s is %q", all[0][i], r[0], cell)
			}
		}
	}
	b.Reset()
	require.NoError(t, WriteFindings(&b, "text", f, "", Options{}))
	for _, line := range strings.Split(b.String(), "\n") {
		if i := strings.Index(line, "871"); i >= 0 && !strings.Contains(line[:i], `"`) {
			t.Errorf("not marked as published: %s", line)
		}
	}
	b.Reset()
	require.NoError(t, WriteFindings(&b, "json", f, "", Options{}))
	var back analyze.Findings
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || back.Schema != analyze.FindingsSchema || len(back.Claims) != len(f.Claims) {
		t.Errorf("%v: %+v", err, back)
	}
}

// No text of a claim, of a feature table or of a run reaches a terminal or a
// page as anything but text.
func TestHostileFindings(t *testing.T) {
	evil := "a\x1b[2Jb\x9b31m\r\n\x00|<script>`x`\u202e" + strings.Repeat("z", 5000)
	f := claimedFindings(t)
	f.Runs[0].Study, f.Runs[0].Machine = evil, evil
	for i := range f.Claims {
		c := &f.Claims[i]
		c.Says, c.Why, c.Reason = evil, evil, evil
		c.Without = append(c.Without, analyze.ClaimLack{What: evil, Reason: evil, Fix: strings.ReplaceAll(evil, "<script>", "")})
		c.Differs = append(c.Differs, record.StandIn{Aspect: evil, Paper: evil, Here: evil})
		c.Published = append(c.Published, analyze.PublishedNumber{PublishedValue: record.PublishedValue{Source: evil, Text: evil}})
		for k := range c.Pairs {
			c.Pairs[k].A.Env, c.Pairs[k].Range, c.Pairs[k].Unit, c.Pairs[k].Also = evil, evil, evil, []string{evil}
		}
		if c.Decides != nil {
			c.Decides.A.Env, c.Decides.Unit = evil, evil
		}
		if c.Features != nil {
			c.Features.Differ[0].Feature, c.Features.Differ[0].Why = evil, evil
			c.Features.Undecided[0].Feature, c.Features.Undecided[0].Lacking = evil, evil
		}
		for k := range c.Answers {
			c.Answers[k].Text = evil
		}
	}
	for _, format := range []string{"text", "markdown", "csv"} {
		for _, claim := range []string{"", "6a", "9b", "5"} {
			var b bytes.Buffer
			require.NoError(t, WriteFindings(&b, format, f, claim, Options{Width: 60}))
			for _, bad := range []string{"\x1b", "\x00", "\u009b", "\r", "\u202e"} {
				if strings.Contains(b.String(), bad) {
					t.Errorf("%s of %q lets %q through", format, claim, bad)
				}
			}
			if format == "markdown" && strings.Contains(b.String(), "<script>") {
				t.Errorf("markdown of %q has markup of a claim", claim)
			}
		}
	}
}

// TestFindingsManual: what docs/findings.md shows is what the program prints.
func TestFindingsManual(t *testing.T) {
	manual, err := os.ReadFile("../../../docs/findings.md")
	require.NoError(t, err)
	shown := ""
	for _, name := range []string{"findings.txt", "finding.txt", "findings-hosts.txt"} {
		text, err := os.ReadFile("testdata/" + name)
		require.NoError(t, err)
		shown += string(text)
	}
	blocks := regexp.MustCompile("(?s)```text\n(.*?)\n```").FindAllStringSubmatch(string(manual), -1)
	if len(blocks) < 2 {
		t.Fatalf("only %d tables", len(blocks))
	}
	for _, b := range blocks {
		if !strings.Contains(shown, b[1]) {
			t.Errorf("not what is printed: copy it anew from findings.txt, finding.txt or findings-hosts.txt in internal/understand/report/testdata:\n%s", b[1])
		}
	}
	source, err := os.ReadFile("../analyze/findings/findings.go")
	require.NoError(t, err)
	codes := regexp.MustCompile(`Code: "([a-z-]+)"`).FindAllStringSubmatch(string(source), -1)
	if len(codes) < 2 {
		t.Errorf("only %d remarks found in the source", len(codes))
	}
	for _, m := range codes {
		if !strings.Contains(string(manual), "`"+m[1]+"`") {
			t.Errorf("remark %s is not explained", m[1])
		}
	}
}

// What a claim lacks is said once for each reason, which runs count so that it can be
// followed, and what every trial failed of instead of a command that would fail too.
func TestFindingsSayOnce(t *testing.T) {
	daemon := "the docker daemon's storage driver is overlay2, and a private one can't be started: the kernel has no "
	c := &analyze.Finding{Says: "It is so.", Why: "Why.", Verdict: analyze.ClaimSupported,
		Without: []analyze.ClaimLack{{What: "docker/aufs, docker/zfs", Reason: daemon + "aufs"}, {What: "sarus", Reason: "sarus is not installed"}, {What: "docker/zfs", Reason: daemon + "zfs"},
			{What: "workload python, size 2", Reason: "not in this run"}, {What: "workload redis, size 2", Reason: "not in this run"}},
		Answers: []analyze.Answer{{Verdict: analyze.ClaimNotTested, Failed: "The kernel has no such switch. (the step 1 ended with status 1)"}},
	}
	for want, runs := range map[string][2][]string{
		"By run b, which is newer than a.":                                {{"b"}, {"a"}},
		"By run a and b: of a pair that several have, the newest counts.": {{"a", "b"}, {"a"}},
		"By run a and b.": {{"a", "b"}, nil},
	} {
		c.Runs, c.Older = runs[0], runs[1]
		said := strings.Join(lines(c, false), "\n")
		for _, s := range []string{want, "Not answered here, since every trial failed: The kernel has no such switch.\n",
			"Without docker/aufs, docker/zfs (the docker daemon's storage driver is overlay2, and a private one can't be started); sarus (sarus is not installed); workload python, size 2 (not in this run); workload redis, size 2 (not in this run).",
		} {
			if !strings.Contains(said+"\n", s) {
				t.Errorf("%q is not in\n%s", s, said)
			}
		}
	}
}
