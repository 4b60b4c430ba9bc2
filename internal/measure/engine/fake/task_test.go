package fake_test

import (
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/fake"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

func taskOf(t *testing.T, args probe.TaskArgs) engine.Task {
	t.Helper()
	argv, err := args.Argv(image.ProbePath)
	require.NoError(t, err)
	return engine.Task{Name: args.Word, Argv: argv, Limit: time.Second}
}

func TestTask(t *testing.T) {
	args := probe.TaskArgs{Word: "w", Hash: true, Report: true, Dir: "/work", Steps: []probe.TaskStep{
		{Kind: probe.TaskPrepare, Argv: []string{"mkdir", "x"}, Output: "/dev/null"},
		{Kind: probe.TaskMain, Argv: []string{"simulate", "time=20", "rate~1000"}},
		{Kind: probe.TaskCleanup, Argv: []string{"rm", "x"}}}}
	medians := map[string]float64{}
	for _, level := range []string{"medium", "slow"} {
		env := open(t, fake.New(), "a", level)
		res, err := env.Run(t.Context(), taskOf(t, args))
		if err != nil || res.Failure != nil || *res.Exit != 0 {
			t.Fatal(err, res)
		}
		k, err := probe.ParseTask(res.Stdout, "w")
		if err != nil || len(k.Steps) != 3 || k.Binary == "" || k.Report["simulated"] != "yes" {
			t.Fatalf("%v, %+v\n%s", err, k, res.Stdout)
		}
		main := k.Steps[1]
		if main.Kind != probe.TaskMain || main.End <= main.Begin || k.Done < k.Steps[2].End || main.UserNS == 0 {
			t.Errorf("%+v", k)
		}
		out := string(k.Output)
		if !strings.Contains(out, "time ") || !strings.Contains(out, "rate ") {
			t.Errorf("it printed %q", out)
		}
		medians[level] = float64(main.End - main.Begin)
	}
	if r := medians["slow"] / medians["medium"]; r < 2 || r > 4 {
		t.Errorf("slow takes %.1f times as long", r)
	}
}

func TestTaskOfAServer(t *testing.T) {
	args := probe.TaskArgs{Word: "w", Steps: []probe.TaskStep{
		{Kind: probe.TaskServe, Argv: []string{"redis-server", "--port", "6379"}}, {Kind: probe.TaskPort, Port: 6379},
		{Kind: probe.TaskStay}}}
	env := open(t, fake.New(), "a", "medium")
	h, err := env.(engine.Holder).Hold(t.Context(), taskOf(t, args))
	require.NoError(t, err)
	out, _ := h.Output()
	if k, err := probe.ParseTask(out, "w"); k.Ready == 0 || err == nil {
		t.Errorf("while it serves: %+v, %v", k, err)
	}
	res := end(t, h)
	if k, err := probe.ParseTask(res.Stdout, "w"); err != nil || k.Done == 0 {
		t.Errorf("at the end: %+v, %v", k, err)
	}
}

func TestTaskThatFails(t *testing.T) {
	for program, want := range map[string]int{"false": 1, "sysbench": 127, "true": 0} {
		args := probe.TaskArgs{Word: "w", Steps: []probe.TaskStep{{Kind: probe.TaskMain, Argv: []string{program}}}}
		res, err := open(t, fake.New(), "a", "medium").Run(t.Context(), taskOf(t, args))
		if err != nil || res.Failure != nil || *res.Exit != want {
			t.Errorf("%s: %v, %+v", program, err, res)
		}
	}
	env := open(t, fake.New(), "a", "medium")
	for _, argv := range [][]string{{"/bin/sh", "-c", "x"}, {image.ProbePath, "task", "w", "main", "9", "x"}, {image.ProbePath, "task", "w"}} {
		res, err := env.Run(t.Context(), engine.Task{Name: "n", Argv: argv, Limit: time.Second})
		if err != nil || res.Failure == nil || res.Failure.Class != record.Unsupported {
			t.Errorf("%q: %v, %+v", argv, err, res.Failure)
		}
	}
}
