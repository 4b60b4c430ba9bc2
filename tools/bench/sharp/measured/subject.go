package measured

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/docker"
	"plimsoll/internal/measure/engine/oci"
	"plimsoll/internal/measure/engine/podman"
)

// subject is an engine whose program can be replaced by one that is slower.
type subject struct {
	name    string
	program string // what it is called on the PATH
	levels  string // in a study
	with    func(path string) engine.Engine
}

// subjects are those that there are. Each is driven by its command line, since
// hyperfine can drive no other.
var subjects = []subject{
	{"runc", "runc", "runtime: runc, client: run, network: none", bare("runc")},
	{"crun", "crun", "runtime: crun, client: run, network: none", bare("crun")},
	{"podman", "podman", "client: cli, network: none, rootless: no", replacing(podman.New, "podman")},
	{"docker", "docker", "client: cli, network: none", replacing(docker.New, "docker")},
}

// Engines names them.
func Engines() []string { return lists.Map(subjects, func(s subject) string { return s.name }) }

// verb is the argument by which a start is told from other calls.
const verb = "run"

func bare(name string) func(string) engine.Engine {
	return func(path string) engine.Engine { return oci.New(oci.WithRuntime(name, path)) }
}

func replacing[E engine.Engine](adapter func() E, name string) func(string) engine.Engine {
	return func(path string) engine.Engine { return replaced{adapter(), name, path} }
}

// replaced is an engine that finds another program where it looks for its own.
type replaced struct {
	engine.Engine
	name, path string
}

func (r replaced) Open(ctx context.Context, kit *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	other := *kit
	other.LookPath = func(name string) (string, error) {
		if name == r.name {
			return r.path, nil
		}
		return kit.LookPath(name)
	}
	return r.Engine.Open(ctx, &other, spec)
}

//go:embed src/spin.c
var spin []byte

// compile makes a program that computes for some time before a start, and then
// becomes the real one.
func compile(ctx context.Context, dir, name, program string, ns int64) error {
	cc, err := exec.LookPath("cc")
	if err != nil {
		return fmt.Errorf("a C compiler is needed for programs that are slower by a known time (apt-get install gcc libc6-dev): %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	source := filepath.Join(dir, "spin.c")
	if err := os.WriteFile(source, spin, 0o600); err != nil {
		return err
	}
	out, err := child.Run(ctx, child.Command{Together: true, Argv: []string{cc, "-O2", "-static", "-o", filepath.Join(dir, name), source,
		"-DNS=" + strconv.FormatInt(ns, 10) + "LL", `-DPROGRAM="` + program + `"`, `-DVERB="` + verb + `"`}})
	if err != nil {
		return fmt.Errorf("compiling a program that is slower by %d ns: %w: %s", ns, err, out.Stdout)
	}
	return nil
}
