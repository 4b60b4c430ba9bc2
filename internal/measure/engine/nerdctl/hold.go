package nerdctl

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/clirun"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// held is a container that was started by one `nerdctl run --rm` in the
// foreground, which stays. containerd's shim holds the container.
type held struct {
	*clirun.Held
	env *environment
}

func (env *environment) Hold(ctx context.Context, task engine.Task) (engine.Held, error) {
	if f := env.impossible(task); f != nil {
		return nil, &engine.Error{Class: f.Class, Text: "holding " + task.Name + ": " + f.Text}
	}
	run := clirun.Step{Cmd: env.c.command(env.Kit, env.args(task, "--rm")...), Begin: record.Request, End: record.Removed, Removes: true}
	h, err := env.Base.Hold(ctx, clirun.Holding{
		Plan: clirun.Plan{Task: task, Steps: []clirun.Step{run}, Patterns: patterns},
		End: func(stop *engine.Stop) []clirun.Step {
			if stop == nil {
				return nil
			}
			return []clirun.Step{{Begin: record.Stop, End: record.Stopped,
				Cmd: env.c.command(env.Kit, "stop", "--time", graceSeconds(*stop), task.Name)}}
		},
		Place: func(ctx context.Context, _ int) engine.Place { return env.placeOf(ctx, task) },
		After: func(ctx context.Context, res *engine.Result) {
			if res.Failure == nil {
				env.settle(ctx, task.Name, res)
			} else if err := env.c.removeContainer(ctx, task.Name); err != nil {
				res.Failure.Text += "; " + err.Error()
			}
		},
	})
	if err != nil {
		return nil, err
	}
	return &held{Held: h, env: env}, nil
}

// placeOf asks nerdctl where a container is. It is not measured.
func (env *environment) placeOf(ctx context.Context, task engine.Task) (p engine.Place) {
	out, err := env.c.output(ctx, "inspect", "--format", "{{.State.Pid}} {{.NetworkSettings.IPAddress}}", task.Name)
	if err != nil {
		p.NoAddress = "nerdctl does not tell of the container: " + err.Error()
		return p
	}
	f := append(strings.Fields(string(out)), "", "")
	p.PID, _ = strconv.Atoi(f[0]) // 0 where nobody tells
	switch {
	case task.Beside != nil:
		other := task.Beside.Place()
		p.Address, p.NoAddress = other.Address, other.NoAddress
	case env.network == "host":
		p.Address = "127.0.0.1"
	case env.network == "none":
		p.NoAddress = "a container with the network none has loopback only"
	case f[1] != "":
		p.Address = f[1]
	default:
		p.NoAddress = "nerdctl reports no address on the network " + env.network
	}
	return p
}

// Exec runs one `nerdctl exec`.
func (h *held) Exec(ctx context.Context, task engine.Task) (engine.Result, error) {
	args := []string{"exec"}
	for _, kv := range task.Env {
		args = append(args, "--env="+kv)
	}
	args = append(append(args, h.Task().Name), task.Argv...)
	res, err := h.env.Base.Exec(ctx, clirun.Plan{Task: task, Patterns: patterns, Exit: execStatus,
		Steps: []clirun.Step{{Cmd: h.env.c.command(h.env.Kit, args...), Begin: record.Request}}})
	if err != nil || (res.Failure != nil && res.Failure.Class == record.TimeOut) {
		adapter.KillInside(h.Place().PID, task.Argv)
	}
	if f := res.Failure; f != nil && f.Class == record.EngineError && res.Exit != nil {
		res.Failure = adapter.SignalFailure(*res.Exit, false) // the program printed nothing, and nerdctl tells its status
	}
	if err != nil {
		err = fmt.Errorf("executing in %s: %w", h.Task().Name, err)
	}
	return res, err
}

var execFailed = regexp.MustCompile(`exec failed with exit code (\d+)`)

// execStatus reads the program's exit status: nerdctl's own is 1, whatever the
// program's was, and it says that one.
func execStatus(job *probe.JobResult) *int {
	if len(job.Commands) == 0 || job.Commands[0].Exit == 0 {
		return nil
	}
	n := 0
	if c := job.Commands[0]; c.Status != 0 {
		m := execFailed.FindSubmatch(c.Stderr)
		if m == nil {
			return nil
		}
		n, _ = strconv.Atoi(string(m[1])) // the pattern has digits only
	}
	return &n
}

// impossible says what of a task nerdctl can't do.
func (env *environment) impossible(task engine.Task) *record.Failure {
	no := func(format string, args ...any) *record.Failure {
		return &record.Failure{Class: record.Unsupported, Text: fmt.Sprintf(format, args...)}
	}
	if task.Beside != nil {
		if _, ok := task.Beside.(*held); !ok {
			return no("a container can share another one's namespaces only with nerdctl")
		}
		if env.network == "none" { // nerdctl mounts that one's resolv.conf, which it has not made
			return no("nerdctl can't share the namespaces of a container with the network none")
		}
	}
	for _, m := range task.Mounts {
		if m.Kind != engine.Bind && m.Kind != engine.Volume && m.Kind != engine.Tmpfs {
			return no("nerdctl has no mount of the kind %q", m.Kind)
		}
		if strings.ContainsAny(m.Source+m.Target, ",:") {
			return no("nerdctl takes no path with a comma or a colon for a mount")
		}
	}
	return nil
}

// mountArgs are a task's mounts. A volume has no name, so that it goes with its
// container.
func mountArgs(task engine.Task) []string {
	var args []string
	for _, m := range task.Mounts {
		switch m.Kind {
		case engine.Bind:
			args = append(args, "--volume="+m.Source+":"+m.Target)
		case engine.Volume:
			args = append(args, "--volume="+m.Target)
		case engine.Tmpfs:
			option := "--tmpfs=" + m.Target
			if m.SizeBytes > 0 {
				option += ":size=" + strconv.FormatInt(m.SizeBytes, 10)
			}
			args = append(args, option)
		}
	}
	return args
}
