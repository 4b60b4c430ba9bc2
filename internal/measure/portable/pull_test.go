package portable

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/imagestore"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/record"
)

// A repository is named with its registry and without a tag.
func TestCheckRepository(t *testing.T) {
	for text, ok := range map[string]bool{
		"localhost:5000/scratch": true, "registry.example/team/scratch": true, "10.0.0.3:5000/x": true, "docker.io/somebody/scratch": true,
		"scratch": false, "somebody/scratch": false, "localhost:5000/scratch:1": false, "localhost:5000": false, "localhost:5000/": false,
		"localhost:5000/Scratch": false, "https://localhost:5000/scratch": false, "": false,
	} {
		if err := CheckRepository(text); (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "expected HOST[:PORT]/REPOSITORY") {
			t.Errorf("%q: %v, want it taken: %v", text, err, ok)
		}
	}
}

// Whether an engine can pull is told by how it is reached only where that says enough:
// a Unix socket may lead to this machine, so it is tried.
func TestNoPull(t *testing.T) {
	look := func(host, from string) *Look {
		return &Look{Context: context.Background(), PullFrom: from, Images: &Images{}, Around: Surroundings{
			Getenv:   func(name string) string { return map[string]string{"DOCKER_HOST": host}[name] },
			LookPath: func(string) (string, error) { return "", os.ErrNotExist }, Home: t.TempDir(), System: "linux"}}
	}
	env := &record.Environment{ID: "docker", Engine: Docker}
	pull := func(image string) *record.Workload {
		return &record.Workload{Name: "pull", Params: map[string]string{"image": image}}
	}
	for _, c := range []struct {
		host, from string
		w          *record.Workload
		reason     string
	}{
		{"unix:///no/such/socket", "", pull("payload"), ""},
		{"tcp://127.0.0.1:1", "", pull("payload"), "nothing shows that docker runs on this machine: it is reached by TCP without encryption"},
		{"tcp://127.0.0.1:1", "localhost:5000/scratch", pull("payload"), ""},
		{"tcp://127.0.0.1:1", "localhost:5000/scratch", pull("busybox"), "no archive of it was given"},
		{"tcp://127.0.0.1:1", "", &record.Workload{Name: "hello"}, ""},
	} {
		reason, fix := look(c.host, c.from).noPull(env, c.w)
		if (reason == "") != (c.reason == "") || !strings.Contains(reason, c.reason) || (fix == "") != (reason == "") {
			t.Errorf("%s pulling from %q: %q, %q; want %q", c.host, c.from, reason, fix, c.reason)
		}
	}
}

// A pull that was to be cold and was not fails: by the count of a registry of ours, or by
// the engine's own word.
func TestFillPull(t *testing.T) {
	ours := &run{source: &source{registry: &imagestore.Registry{}}}
	other := &run{source: &source{}}
	pub := &image.Published{Layers: []string{"sha256:a", "sha256:b"}, Compressed: 7}
	all := image.Traffic{Requests: 4, Bytes: 9, Blobs: map[string]int64{"sha256:a": 1, "sha256:b": 2}}
	half := image.Traffic{Requests: 3, Bytes: 8, Blobs: map[string]int64{"sha256:b": 2}}
	for _, c := range []struct {
		r      *run
		held   int
		served image.Traffic
		cache  string
		reason string
		values int
	}{
		{ours, 0, all, "cold", "", 5},
		{ours, 0, half, "cold", "did not fetch the layer sha256:a", 0},
		{ours, 0, half, "shared", "", 5},
		{other, 0, image.Traffic{}, "cold", "", 3},
		{other, 1, image.Traffic{}, "cold", "had 1 of the layers", 0},
		{other, 1, image.Traffic{}, "shared", "", 3},
	} {
		p := pulledOnce{course: course{held: c.held}}
		p.Events = map[record.Event]int64{record.Request: 10, record.Ready: 40}
		p.Steps = []record.Step{{Name: "resolve", At: 15}}
		trial := &record.Trial{Values: map[string]float64{}}
		f := c.r.fillPull(trial, p, pub, c.served, c.cache)
		if (f == nil) != (c.reason == "") || f != nil && !strings.Contains(f.Text, c.reason) {
			t.Errorf("%+v: %+v", c, f)
			continue
		}
		if f == nil && (len(trial.Values) != c.values || trial.Values["pull"] != 30 || trial.Values["pull-resolve"] != 5 || len(trial.Steps) != 2) {
			t.Errorf("%+v: %v, %v", c, trial.Values, trial.Steps)
		}
	}
}

// Once a pull has broken off, from the user's repository a cold one is one only where the
// engine tells of the layers that it holds.
func TestUnproved(t *testing.T) {
	other, ours := &source{}, &source{registry: &imagestore.Registry{}}
	for _, c := range []struct {
		r      run
		engine string
		want   bool
	}{
		{run{source: other}, Podman, false}, {run{source: other, broken: []string{Podman}}, Podman, true}, {run{source: other, broken: []string{Docker}}, Docker, false},
		{run{source: other, broken: []string{Docker}}, Podman, false}, {run{source: ours, broken: []string{Podman}}, Podman, false},
	} {
		if why := c.r.unproved(c.engine); (why != "") != c.want {
			t.Errorf("%s after %v: %q", c.engine, c.r.broken, why)
		}
	}
	image := func(engineName, name string) engine.Thing {
		return engine.Thing{Kind: engine.KindImage, Name: name, Engine: engineName}
	}
	sent, pulled := loaded+"payload:abcd1234", "registry.example/scratch:abcd1234-payload"
	if b := brokenOff([]engine.Thing{image(Podman, sent), image(Docker, pulled), {Kind: kindTag, Name: pulled, Engine: "registry.example"}}); len(b) > 0 {
		t.Errorf("broken off: %v", b)
	}
	if b := brokenOff([]engine.Thing{image(Podman, pulled)}); len(b) != 1 || b[0] != Podman {
		t.Errorf("broken off: %v", b)
	}
}

// pulling is a client whose pull ends in this way.
type pulling struct {
	runner
	c course
}

func (p pulling) pull(ctx context.Context, _ pullTask) (course, error) {
	if p.c.Failure != nil && p.c.Failure.Class == record.TimeOut {
		<-ctx.Done()
	}
	return p.c, nil
}

// A pull has broken off where something may have arrived: not where the engine has told that
// it came to no layer, as one does that nobody let in.
func TestBroken(t *testing.T) {
	for _, c := range []struct {
		what    string
		class   record.Class
		nothing bool
		broken  bool
	}{
		{"a refusal", record.EngineError, true, false}, {"an end on the way", record.EngineError, false, true},
		{"a time-out", record.TimeOut, false, true}, {"a time-out before all layers", record.TimeOut, true, true},
	} {
		r := &run{source: &source{registry: &imagestore.Registry{}}, ledger: &Ledger{}, Options: Options{
			Look: &Look{found: map[string]*Found{Podman: {Engine: Podman}}}, Plan: &study.Plan{}}}
		r.Plan.Protocol.TrialLimitNS = int64(time.Minute)
		if c.class == record.TimeOut {
			r.Plan.Protocol.TrialLimitNS = int64(time.Millisecond)
		}
		end := course{nothing: c.nothing}
		end.Failure = failedBy(c.class, "%s", c.what)
		p, err := r.pullOne(t.Context(), &environment{runner: pulling{c: end}, rec: &record.Environment{Engine: Podman}}, "localhost:5000/x:1", "sha256:a")
		if err != nil || p.Failure == nil || (len(r.broken) > 0) != c.broken {
			t.Errorf("%s: %v, %+v; broken are %v", c.what, err, p.Failure, r.broken)
		}
	}
}

// What a command prints is stamped line by line, however it comes.
func TestHeard(t *testing.T) {
	h := &heard{}
	for _, s := range []string{"Trying to pull x...\nGetting image sou", "rce signatures\r\n", "Copying blob a\nWriting manifest to image destination\n", "the id"} {
		n, err := h.Write([]byte(s))
		if n != len(s) || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
	}
	steps := copying(h.lines)
	if len(h.lines) != 4 || len(steps) != 2 || steps[0].Name != "resolve" || steps[1].Name != "transfer" || steps[1].At < steps[0].At || h.last() != "the id" {
		t.Errorf("%v, %v, %q", h.lines, steps, h.last())
	}
	for range mostHeard + 10 {
		_, _ = h.Write([]byte("more\n")) // as above
	}
	_, _ = h.Write([]byte("the end\n"))
	if len(h.lines) != mostHeard || h.last() != "the end" {
		t.Errorf("%d lines, the last %q", len(h.lines), h.last())
	}
}
