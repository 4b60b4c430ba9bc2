package enginetest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// report is what a payload sees from inside.
func (s *suite) report(t *testing.T) map[string]string {
	t.Helper()
	args := probe.PayloadArgs{Report: true}
	res := s.run(t, s.task(&args))
	return prove(t, res, args.Word).Report
}

// isolation: namespaces are one's own, or the host's, as promised.
func (s *suite) isolation(t *testing.T) {
	if s.opts.Own == nil && s.opts.Shared == nil {
		t.Skip("this configuration promises nothing about namespaces")
	}
	r := s.report(t)
	if r["proc"] == "absent" {
		t.Skip("there is no /proc inside to read namespaces from")
	}
	kinds := map[string]bool{}
	for _, k := range s.opts.Own {
		kinds[k] = true
	}
	for _, k := range s.opts.Shared {
		kinds[k] = false
	}
	for kind, own := range kinds {
		link, err := os.Readlink("/proc/self/ns/" + kind)
		if err != nil {
			t.Errorf("our own namespace %s: %v", kind, err)
			continue
		}
		ours := strings.TrimSuffix(strings.TrimPrefix(link, kind+":["), "]")
		switch inside := r["ns."+kind]; {
		case inside == "":
			t.Errorf("the payload reports no namespace %s: %v", kind, r)
		case own && inside == ours:
			t.Errorf("namespace %s is the host's, though one of its own was promised", kind)
		case !own && inside != ours:
			t.Errorf("namespace %s is %s, though the host's (%s) was promised", kind, inside, ours)
		}
	}
}

// limits: what the facts claim is in force, read inside the container or at
// the container's cgroup.
func (s *suite) limits(t *testing.T) {
	facts := s.env.Facts()
	switch facts["limits"] {
	case "none":
		if facts["limits-reason"] == "" {
			t.Error("nothing limits, and the facts give no reason")
		}
		t.Skipf("nothing limits: %s", facts["limits-reason"])
	case "engine", "cgroup-of-ours":
	default:
		t.Fatalf("the fact limits is %q, want engine, cgroup-of-ours or none", facts["limits"])
	}
	got := s.inForce(t, 0)
	if want := s.spec.Limits.MemoryBytes; want != 0 && got.MemoryBytes != want {
		t.Errorf("the memory limit in force is %d, want %d", got.MemoryBytes, want)
	}
	if want := s.spec.Limits.CPUs; want != 0 && (got.CPUs < want*0.99 || got.CPUs > want*1.01) {
		t.Errorf("the CPU limit in force is %.3f, want %.3f", got.CPUs, want)
	}
}

// memory demands that a task's own memory limit is in force in place of the
// environment's, where the engine can do that.
func (s *suite) memory(t *testing.T) {
	if why := s.opts.Skip["limits"]; why != "" {
		t.Skip(why)
	}
	m, ok := s.env.(engine.MemoryLimiter)
	if !ok || !m.LimitsMemory() {
		t.Skip("a container can't have a memory limit of its own")
	}
	const want = 96 << 20
	if got := s.inForce(t, want); got.MemoryBytes != want {
		t.Errorf("the memory limit in force is %d, want the task's %d", got.MemoryBytes, int64(want))
	}
}

// inForce gives the limits of a container that runs, which has a memory limit
// of its own where memory is given.
func (s *suite) inForce(t *testing.T, memory int64) engine.Limits {
	t.Helper()
	// The payload is there for a while: until it is killed after the grace,
	// or at its limit where the engine has no stop.
	args := probe.PayloadArgs{Stay: true, OnTerm: "ignore", Report: true}
	task := s.task(&args)
	task.MemoryBytes = memory
	if s.opts.Skip["stop ignored"] == "" {
		task.Stop = &engine.Stop{Grace: s.opts.Grace}
	} else {
		task.Limit = s.opts.Hang
	}
	found := make(chan engine.Limits, 1)
	quit := make(chan struct{})
	go func() { found <- watchLimits(args.Word, task.Name, quit) }()
	res, err := s.env.Run(t.Context(), task)
	close(quit)
	got := <-found
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	if f := res.Failure; f != nil && (task.Stop != nil || f.Class != record.TimeOut) {
		t.Fatalf("the trial failed: %s: %s", f.Class, f.Text)
	}
	if got == (engine.Limits{}) {
		got = reportedLimits(prove(t, res, args.Word).Report)
	}
	if got == (engine.Limits{}) {
		t.Fatal("no limits are in force, neither at the cgroup nor by what the payload sees")
	}
	return got
}

// reportedLimits reads the payload's report.
func reportedLimits(r map[string]string) engine.Limits {
	var l engine.Limits
	v, err := strconv.ParseInt(cmp.Or(r["limit.memory.max"], r["limit.memory.limit_in_bytes"]), 10, 64)
	if err == nil && v < 1<<60 {
		l.MemoryBytes = v
	}
	quota, period, ok := strings.Cut(r["limit.cpu.max"], " ")
	if !ok {
		quota, period = r["limit.cpu.cfs_quota_us"], r["limit.cpu.cfs_period_us"]
	}
	l.CPUs = ratio(quota, period)
	return l
}

func ratio(quota, period string) float64 {
	q, err := strconv.ParseFloat(quota, 64)
	p, err2 := strconv.ParseFloat(period, 64)
	if err != nil || err2 != nil || q <= 0 || p <= 0 {
		return 0
	}
	return q / p
}

// clock: where an environment can hold the exchange, its rounds are in order.
func (s *suite) clock(t *testing.T) {
	c, ok := s.env.(engine.Calibrator)
	if !ok {
		t.Skip("this environment holds no clock exchange")
	}
	args := probe.PayloadArgs{Echo: true}
	xs, err := c.Calibrate(t.Context(), s.task(&args), 5)
	if err != nil {
		t.Fatalf("Calibrate: %v", err)
	}
	if len(xs) != 5 {
		t.Fatalf("%d rounds, want 5", len(xs))
	}
	shared := true
	for i, x := range xs {
		if x.Received < x.Sent || (i > 0 && x.Sent < xs[i-1].Received) || (i > 0 && x.Inside < xs[i-1].Inside) {
			t.Errorf("round %d is out of order: %+v", i, x)
		}
		shared = shared && x.Sent <= x.Inside && x.Inside <= x.Received
	}
	t.Logf("clock shared: %v", shared)
}

// busybox is the configuration with the image that has a shell's tools: opened
// once for all checks that need them.
func (s *suite) busybox(t *testing.T) engine.Environment {
	t.Helper()
	if why := s.opts.Skip["tools"]; why != "" {
		t.Skip(why)
	}
	if s.box != nil {
		return s.box
	}
	if s.spec.Level(engine.Image) == "busybox" {
		s.box = s.env
		return s.box
	}
	spec := engine.Spec{ID: s.spec.ID + "-busybox", Levels: map[string]string{}, Limits: s.spec.Limits}
	maps.Copy(spec.Levels, s.spec.Levels)
	spec.Levels[engine.Image] = "busybox"
	env, err := s.engine.Open(t.Context(), s.kit, spec)
	if err != nil {
		if c := class(err); c == record.Unavailable || c == record.Unsupported {
			t.Skipf("needs the busybox image: %v", err)
		}
		t.Fatalf("Open with the busybox image: %v", err)
	}
	s.box = env
	return s.box
}

// closeBox undoes busybox and serve.
func (s *suite) closeBox(t *testing.T) {
	t.Helper()
	if s.server != nil {
		// It is a shell's child that knows no SIGTERM: killed, which is no
		// failure of an End.
		endedWithin(t, s.server.held, 0)
		s.server = nil
	}
	if s.box != nil && s.box != s.env {
		if err := s.box.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("Close of the environment with busybox: %v", err)
		}
	}
	s.box = nil
}

// tool makes a trial of another program than the payload.
func (s *suite) tool(argv ...string) engine.Task {
	s.n++
	return engine.Task{Name: adapter.Name(s.kit.RunID, fmt.Sprintf("b%d", s.n), adapter.Word()[:6]),
		Argv: argv, Limit: s.opts.Limit}
}

// tools: with other programs than the payload, the task's environment
// variables arrive, much output is bounded, stderr stays apart, and an end by a
// signal is a failure of class crash.
func (s *suite) tools(t *testing.T) {
	env := s.busybox(t)
	task := s.tool("/bin/busybox", "env")
	task.Env = []string{"PLIMSOLL_TEST=a b=c$HOME"}
	res, err := env.Run(t.Context(), task)
	if err != nil || res.Failure != nil {
		t.Fatalf("Run: %v, %+v", err, res.Failure)
	}
	if !strings.Contains(string(res.Stdout), task.Env[0]+"\n") {
		t.Errorf("%q is not among the variables inside:\n%s", task.Env[0], res.Stdout)
	}
	if !strings.Contains(string(res.Stdout), "PATH=") {
		t.Errorf("there is no PATH inside:\n%s", res.Stdout)
	}

	task = s.tool("/bin/busybox", "seq", "1", "200000")
	task.OutputLimit = 2 << 20 // what a launcher keeps of each of several commands
	res, err = env.Run(t.Context(), task)
	if err != nil || res.Failure != nil {
		t.Fatalf("Run with much output: %v, %+v", err, res.Failure)
	}
	switch n := len(res.Stdout); {
	case s.opts.LosesTail != "" && n > 512<<10 && n < 1288895 && strings.HasPrefix(string(res.Stdout), "1\n2\n"):
		t.Logf("the last %d bytes of stdout were lost: %s", 1288895-n, s.opts.LosesTail)
	case n != 1288895 || !strings.HasSuffix(string(res.Stdout), "\n200000\n"):
		t.Errorf("%d bytes of stdout were kept, want all 1288895", n)
	}

	task = s.tool("/bin/busybox", "seq", "1", "200000")
	task.OutputLimit = 4096
	res, err = env.Run(t.Context(), task)
	if err != nil || res.Failure != nil {
		t.Fatalf("Run with much output: %v, %+v", err, res.Failure)
	}
	if len(res.Stdout) == 0 || len(res.Stdout) > 4096 || !strings.HasPrefix(string(res.Stdout), "1\n2\n") {
		t.Errorf("%d bytes of stdout were kept, want at most 4096, from the beginning: %.20q", len(res.Stdout), res.Stdout)
	}
	if res.Exit == nil || *res.Exit != 0 {
		t.Errorf("with much output the exit status is %v, want 0", show(res.Exit))
	}

	res, err = env.Run(t.Context(), s.tool("/bin/busybox", "sh", "-c", "echo out; echo err >&2; exit 3"))
	if err != nil || res.Failure != nil {
		t.Fatalf("Run: %v, %+v", err, res.Failure)
	}
	if string(res.Stdout) != "out\n" || !strings.Contains(string(res.Stderr), "err\n") || res.Exit == nil || *res.Exit != 3 {
		t.Errorf("stdout %q, stderr %q, exit %v; want out, err, 3", res.Stdout, res.Stderr, show(res.Exit))
	}

	if s.env.Facts()["limits"] != "none" && s.opts.Skip["out of memory"] == "" {
		s.outOfMemory(t, env)
	}

	// A recursion without end overflows the stack: a signal that the kernel
	// forces on PID 1 too.
	res, err = env.Run(t.Context(), s.tool(overflow...))
	if why := s.opts.HidesSignals; why != "" {
		t.Logf("a crash can't be recognised here: %s", why)
		if err != nil || (res.Failure == nil && (res.Exit == nil || *res.Exit == 0)) {
			t.Errorf("a program that crashes: error %v, failure %+v, exit %v; want a status that is not 0", err, res.Failure, show(res.Exit))
		}
		return
	}
	if err != nil || res.Failure == nil || res.Failure.Class != record.Crash || res.Exit != nil && *res.Exit != 128+11 {
		t.Errorf("a program that crashes: error %v, failure %+v, exit %v; want class %s", err, res.Failure, show(res.Exit), record.Crash)
	}
}

// outOfMemory: a program that takes more memory than the limit is killed, and
// the failure says why.
func (s *suite) outOfMemory(t *testing.T, env engine.Environment) {
	t.Helper()
	// A string that doubles without end; it needs no device, which the
	// smallest containers lack.
	res, err := env.Run(t.Context(), s.tool("/bin/busybox", "awk", `BEGIN { s = "x"; while (1) s = s s }`))
	switch {
	case err != nil:
		t.Errorf("out of memory: %v", err)
	case s.opts.HidesSignals != "":
		if res.Exit == nil || *res.Exit == 0 {
			t.Errorf("out of memory: exit %v, want a status that is not 0", show(res.Exit))
		}
	case res.Failure == nil || res.Failure.Class != record.OutOfMemory:
		t.Errorf("out of memory: failure %+v, exit %v, want class %s", res.Failure, show(res.Exit), record.OutOfMemory)
	}
}
