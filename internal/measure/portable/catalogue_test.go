package portable

import (
	"context"
	"os"
	"strings"
	"testing"

	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// Of every workload it is known whether it can be measured by an interface alone.
func TestWhyNot(t *testing.T) {
	want := map[string]string{"hello": "", "stop": "", "exec": "", "pull": "registry", "sysbench-cpu": "", "redis": "several containers", "mpi-latency": "ranks"}
	can := 0
	for _, w := range workload.Catalogue() {
		why := WhyNot(&record.Workload{Name: w.Name})
		if why == "" {
			can++
		}
		if part, ok := want[w.Name]; ok && ((part == "") != (why == "") || !strings.Contains(why, part)) {
			t.Errorf("%s: %q, want %q in it", w.Name, why, part)
		}
		delete(want, w.Name)
	}
	if len(want) > 0 || can < 10 {
		t.Errorf("not in the catalogue: %v; %d can be measured", want, can)
	}
}

// What no interface reaches is unavailable with the reason, and so are levels that only
// the engine's own machine has.
func TestUsable(t *testing.T) {
	l := &Look{Context: context.Background(), Images: &Images{Archives: map[string]string{"toolbox": "x.tar"}}, Around: Surroundings{
		Getenv:   func(name string) string { return map[string]string{"DOCKER_HOST": "unix:///no/such/socket"}[name] },
		LookPath: func(string) (string, error) { return "", os.ErrNotExist }, Home: t.TempDir(), System: "linux"}}
	for _, c := range []struct {
		engine string
		levels map[string]string
		reason string
	}{
		{"native", nil, "and not native"},
		{"cri", nil, "--portable measures docker and podman, and not cri"},
		{Docker, nil, "does not answer"},
		{Docker, map[string]string{"client": "cli"}, "does not answer"},
		{Podman, nil, "does not answer"},
	} {
		ok, reason, _ := l.Usable(c.engine, c.levels)
		if ok || !strings.Contains(reason, c.reason) {
			t.Errorf("%s with %v: %v, %q; want %q", c.engine, c.levels, ok, reason, c.reason)
		}
	}
	f := &Found{Engine: Docker, Facts: map[string]string{"storage": "overlay2", "default-runtime": "runc", "rootless": "no"}}
	for level, want := range map[[2]string]string{
		{"storage", "overlay2"}: "", {"storage", "vfs"}: "is overlay2", {"runtime", "crun"}: "has no runtime crun", {"with", "init"}: "own kernel",
		{"image", "toolbox"}: "", {"image", "busybox"}: "no archive", {"image", "alpine:3"}: "", {"network", "none"}: "",
	} {
		if reason, _ := f.offers(level[0], level[1], l.Images); (want == "") != (reason == "") || !strings.Contains(reason, want) {
			t.Errorf("%v: %q, want %q", level, reason, want)
		}
	}
}

// A plan that is gone on with needs its images again, and may have been made by a version that
// measured more here.
func TestLacks(t *testing.T) {
	archives := &Images{Archives: map[string]string{"busybox": "x.tar"}}
	for _, c := range []struct{ engine, workload, image, want string }{
		{Docker, "hello", "busybox", ""}, {Docker, "hello", "toolbox", "no archive of it was given"},
		{Docker, "pull", "", "it pulls images"}, {"cri", "hello", "", "and not cri"},
	} {
		plan := &study.Plan{Workloads: []record.Workload{{ID: c.workload, Name: c.workload}}, Cells: []study.Cell{{}},
			Environments: []record.Environment{{ID: "a", Engine: c.engine, Levels: map[string]string{"image": c.image}}}}
		l := &Look{Images: archives}
		if reason, _ := l.Lacks(plan); (reason == "") != (c.want == "") || !strings.Contains(reason, c.want) {
			t.Errorf("%+v: %q", c, reason)
		}
	}
}
