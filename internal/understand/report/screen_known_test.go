package report

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/verdict"
)

// typedRun is a run of Docker and Podman in several environments, of which one of each is
// what its users type, and is not its best; root ran it, or an ordinary user.
func typedRun(root bool) recordtest.Cells {
	c := screened(2, 1)
	c.Envs = c.Envs[2:] // charliecloud and bubblewrap
	for _, e := range []struct{ id, engine, client, network, runtime, rootless string }{
		{"podman/rootless", "podman", "cli", "", "crun", "yes"},
		{"podman/rootful", "podman", "cli", "", "crun", "no"},
		{"podman/none", "podman", "cli", "none", "crun", "no"},
		{"docker/api", "docker", "api", "none", "crun", ""},
		{"docker/cli", "docker", "cli", "none", "runc", ""},
		{"docker/crun", "docker", "cli", "", "crun", ""},
		{"docker/usual", "docker", "cli", "", "runc", ""},
		{"docker/runsc", "docker", "cli", "", "runsc", ""},
	} {
		levels := map[string]string{"client": e.client, "runtime": e.runtime}
		if e.network != "" {
			levels["network"] = e.network
		}
		if e.rootless != "" {
			levels["rootless"] = e.rootless
		}
		x := recordtest.Environment(e.id, e.engine, "", levels)
		x.Facts = map[string]string{"client": e.client, "default-runtime": map[string]string{"docker": "runc", "podman": "crun"}[e.engine]}
		x.Inside = insideOf(&x)
		c.Envs = append(c.Envs, x)
	}
	c.Value = func(e *record.Environment, _ *record.Workload, metric string) (float64, bool) {
		for i := range c.Envs {
			if c.Envs[i].ID == e.ID {
				return 3e6 * float64(1+i), metric == "startup"
			}
		}
		return 0, false
	}
	c.Fails = nil
	c.Excluded = nil
	return c
}

// networked is typedRun without networks, but for what change does to an environment.
func networked(change func(e *recordtest.Env)) recordtest.Cells {
	c := typedRun(true)
	for i := range c.Envs {
		e := &c.Envs[i]
		if e.Facts == nil {
			e.Facts = map[string]string{}
		}
		e.Facts["network"] = "none"
		change(e)
	}
	return c
}

// Docker and Podman are held against each other as their users run them: by the command,
// with the engine's own runtime and network, and as the user who ran it would. Where that
// was not measured, what is nearest to it is named.
func TestScreenComparesWhatUsersType(t *testing.T) {
	for root, podman := range map[bool]string{true: "podman/rootful", false: "podman/rootless"} {
		res := screenResult(t, typedRun(root))
		res.Run.Host.Root = root
		text := strings.Join(strings.Fields(screenAt(t, res, 120)), " ")
		for _, want := range []string{"Docker docker run ", "× slower than podman run (crun) at ", "docker run: docker/usual · podman run: " + podman + " ·"} {
			if !strings.Contains(text, want) {
				t.Errorf("root %t: no %q in\n%s", root, want, text)
			}
		}
	}
	c := typedRun(true)
	c.Envs = slices.DeleteFunc(c.Envs, func(e recordtest.Env) bool { return e.ID == "docker/usual" || e.ID == "docker/crun" })
	res := screenResult(t, c)
	res.Run.Host.Root = true
	if text := strings.Join(strings.Fields(screenAt(t, res, 120)), " "); !strings.Contains(text, "Docker docker/cli ") || strings.Contains(text, "docker run:") {
		t.Errorf("\n%s", text)
	}
}

// Those that start other images, or run below other limits, do other work: they are not
// held against each other, however near they are to what users type.
func TestScreenComparesTheSameWork(t *testing.T) {
	for _, factor := range []string{"image", "memory-limit"} {
		c := typedRun(true)
		for i := range c.Envs {
			switch e := &c.Envs[i]; e.ID {
			case "podman/rootful", "docker/usual":
				e.Levels[factor] = "of " + e.ID
			default:
				e.Levels[factor] = "both"
			}
		}
		text := strings.Join(strings.Fields(screenAt(t, screenResult(t, c), 160)), " ")
		if strings.Contains(text, "docker/usual (") || !strings.Contains(text, "Docker docker/cli 20") {
			t.Errorf("%s:\n%s", factor, text)
		}
		for i := range c.Envs {
			c.Envs[i].Levels[factor] = "of " + c.Envs[i].ID
		}
		if text := screenAt(t, screenResult(t, c), 160); strings.Contains(text, "  Docker  ") || strings.Contains(text, "  Podman  ") {
			t.Errorf("%s:\n%s", factor, text)
		}
	}
}

// On a narrow screen too both have their runtimes and their values, before what speaks
// against the first; those that lack nothing are said to have no network, where the two
// above have one.
func TestScreenSaysOfWhatTheFactorIs(t *testing.T) {
	res := screenResult(t, networked(func(e *recordtest.Env) {
		if e.ID == "docker/usual" || e.ID == "podman/rootful" {
			e.Facts["network"] = "bridge"
			e.Levels["network"] = "default"
		}
	}))
	res.Run.Host.Root = true
	text := screenAt(t, res, 80)
	pair := regexp.MustCompile(`(?m)^  Docker    docker run \(runc\) [0-9.]+ ms, podman \(crun\) [0-9.]+: [0-9.]+× \([0-9.]+–[0-9.]+\)\n  Beware `)
	if !pair.MatchString(text) {
		t.Errorf("no %s in\n%s", pair, text)
	}
	isolated := regexp.MustCompile(`(?m)^  Isolated .* \(no network\)$`)
	if !isolated.MatchString(text) {
		t.Errorf("no %s in\n%s", isolated, text)
	}
	for i := range res.Environments {
		res.Environments[i].Facts["network"] = "none"
	}
	if text := screenAt(t, res, 80); isolated.MatchString(text) {
		t.Errorf("all are without a network, and one line says so of some:\n%s", text)
	}
}

// What doctor saw as the run began is told of that time, and where there is room before
// in what else the first two differ.
func TestScreenSaysWhenTheMachineWasBusy(t *testing.T) {
	res := screenResult(t, screened(3, 1))
	res.Run.Host.Remarks = []record.Remark{{Code: "io-pressure", Level: "warn", Text: "Processes waited for a disk during 42 % of the last 10 s."}}
	const want = "processes waited for a disk during 42 % of the 10 s before the run"
	if text := strings.Join(strings.Fields(screenAt(t, res, 80)), " "); !strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
}

// Whoever is first by isolating less is doubted, and the best that isolates as much as
// docker run stands beside it.
func TestScreenSaysWhoIsolatesLess(t *testing.T) {
	res := screenResult(t, typedRun(true))
	text := strings.Join(strings.Fields(screenAt(t, res, 120)), " ")
	for _, want := range []string{"Beware the first isolates less: see lacks", "Isolated fully: podman/rootless", "docker", " pid net ipc uts seccomp ", "lacks: parts of docker run's isolation"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	c := typedRun(true)
	c.Envs = c.Envs[2:] // all isolate alike
	if text := screenAt(t, screenResult(t, c), 120); strings.Contains(text, "lacks") || strings.Contains(text, "isolates less") {
		t.Errorf("\n%s", text)
	}
}

// The headline of a run that goes on, or was interrupted, says how far it came.
func TestScreenSaysHowFar(t *testing.T) {
	res := screenResult(t, screened(3, 1))
	res.Run.Status, res.Run.Blocks = "running", 3
	if text := screenAt(t, res, 80); !strings.Contains(text, " · 3 of 8 blocks") {
		t.Errorf("\n%s", text)
	}
}

// The legend says which network the rows have that name none, and what api and cli are.
func TestLegendSaysWhatNamesLeaveOut(t *testing.T) {
	of := func(change func(e *recordtest.Env)) string {
		return strings.Join(strings.Fields(screenAt(t, screenResult(t, networked(change)), 120)), " ")
	}
	named := func(e *recordtest.Env) {
		if e.ID == "docker/usual" {
			e.ID, e.Facts["network"] = "docker/usual/network-default", "bridge"
		}
	}
	const unnamed = "network unless named"
	if text := of(named); !strings.Contains(text, "no "+unnamed) || !strings.Contains(text, "api: socket, cli: command") {
		t.Errorf("\n%s", text)
	}
	for what, change := range map[string]func(*recordtest.Env){
		"no row names its network": func(*recordtest.Env) {},
		"those that name none differ": func(e *recordtest.Env) {
			if named(e); e.ID == "docker/runsc" {
				e.Facts["network"] = "bridge"
			}
		},
	} {
		if text := of(change); strings.Contains(text, unnamed) {
			t.Errorf("%s:\n%s", what, text)
		}
	}
}

// On a narrow screen an interval is worth more than a name: the factors keep theirs.
func TestScreenFactorsHaveIntervals(t *testing.T) {
	res := screenResult(t, typedRun(true))
	for _, width := range []int{80, 120} {
		text := screenAt(t, res, width)
		for _, label := range []string{"Next", "Docker"} {
			if !regexp.MustCompile(`(?m)^  ` + label + ` .*×.* \([0-9.]+–[0-9.]+\)`).MatchString(text) {
				t.Errorf("%d columns: %s has a factor without an interval in\n%s", width, label, text)
			}
		}
	}
}

// A number without a unit stays whole where the others leave out the first one's unit.
func TestScreenKeepsNumbersWithoutAUnit(t *testing.T) {
	res := screenResult(t, typedRun(true))
	table := &res.Workloads[0].Tables[0]
	table.Metric.Unit = "count"
	envs := []string{table.Cells[0].Env, table.Cells[1].Env}
	for i := range envs {
		table.Cells[i].Median = &sample.Estimate{Value: 12}
	}
	s := screen{Document: &document.Document{Width: 80}, res: res}
	for _, f := range peerForms {
		if text := s.peers(&verdict.Answer{Table: table}, envs, 2, f); strings.Count(text, " 12") != 2 {
			t.Errorf("%+v: %q", f, text)
		}
	}
}
