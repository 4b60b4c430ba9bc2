package baseline

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/clirun"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/probe"
)

// Host runs the host's own programs: what most published studies call native.
// Its programs may differ from those in the image; Native has no such flaw.
type Host struct{ engine.NothingLeft }

func (Host) Info() engine.Info {
	return engine.Info{Name: "host", Title: "host", Baseline: true,
		Typical: 10 * time.Millisecond, Images: engine.ImagesGiven, Processes: engine.Processes{None: true},
		Levels: map[string][]string{engine.Network: {"host"}}}
}

func (Host) Detect(_ context.Context, kit *engine.Kit) engine.Detection {
	return engine.Detection{Usable: true, Version: kernel(), Where: kit.ProbePath,
		Levels: map[string][]engine.Level{engine.Network: usable("host")}}
}

func (h Host) Open(ctx context.Context, kit *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	if err := engine.Refuse(h.Info(), h.Detect(ctx, kit), spec); err != nil {
		return nil, err
	}
	// The image is not used, but a spec that names one that does not exist is
	// as wrong here as elsewhere.
	if _, err := directory(ctx, kit, spec); err != nil {
		return nil, err
	}
	b, err := clirun.NewBase(ctx, kit, spec, true)
	if err != nil {
		return nil, err
	}
	b.AddFacts(map[string]string{"network": "host", "storage": "none", "isolation": "none"})
	e := &environment{Base: b, prepare: func(task engine.Task) (*container, error) { return hostContainer(kit, task) }}
	return open(ctx, kit, spec, e)
}

// hostContainer prepares the host's own program. A task's working directory is
// a new one of ours, or the one that was to be mounted there.
func hostContainer(kit *engine.Kit, task engine.Task) (*container, error) {
	for _, m := range task.Mounts {
		if m.Kind != engine.Bind || m.Target != workDir(task.Argv) {
			return nil, adapter.Unsupported(fmt.Sprintf("nothing is mounted on the host itself (%s at %s)", m.Kind, m.Target))
		}
	}
	c := &container{undo: nothing}
	made := ""
	argv := slices.Clone(task.Argv)
	if i := workDirAt(argv); i > 0 {
		if len(task.Mounts) > 0 {
			argv[i] = task.Mounts[0].Source
		} else {
			made = filepath.Join(kit.Dir, "host-"+task.Name)
			argv[i] = made
			c.undo = func() error { return safepath.RemoveAll(made) }
		}
	}
	command := func(argv, env []string) (probe.Command, error) {
		path, err := hostPath(kit, argv[0])
		return probe.Command{Argv: append([]string{path}, argv[1:]...), Env: env, Dir: "/"}, err
	}
	var err error
	if c.cmd, err = command(argv, env(task)); err != nil {
		return nil, err
	}
	c.exec = func(t engine.Task) (probe.Command, error) {
		argv := slices.Clone(t.Argv)
		if i := workDirAt(argv); i > 0 && made != "" {
			argv[i] = made
		}
		return command(argv, env(t))
	}
	return c, nil
}

// workDirAt finds the working directory among the arguments of the probe's
// task, whose options stand before its steps; 0 where there is none.
func workDirAt(argv []string) int {
	if len(argv) < 3 || argv[0] != image.ProbePath || argv[1] != "task" {
		return 0
	}
	for i := 3; i+1 < len(argv) && strings.HasPrefix(argv[i], "--"); i++ {
		if argv[i] == "--dir" {
			return i + 1
		}
	}
	return 0
}

func workDir(argv []string) string {
	if i := workDirAt(argv); i > 0 {
		return argv[i]
	}
	return ""
}
