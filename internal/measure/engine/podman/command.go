package podman

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"time"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/buildconfig"
	"plimsoll/internal/measure/engine/confile"
	"plimsoll/internal/measure/engine/userns"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// commandLimit bounds every command beside the trials.
const commandLimit = 60 * time.Second

// program is podman, run by one user on one store.
type program struct {
	path   string
	runID  string   // whose containers it removes; "" is nobody's
	mark   string   // the variable that its processes inherit; "" proves nothing
	global []string // options before the verb
	env    []string
	as     *engine.User // nil: as ourselves
	user   *engine.User // the rootless user; nil for root
	store  store
	// told: it has options that the user's own podman has not.
	told bool
	// unsynced: the commands of the trials wait for no disk.
	unsynced bool
	// ownFrom is where in global the options of a store of this run begin.
	ownFrom int
	given   *buildconfig.Configuration // by a build
	// conf are digits of the digest of its storage.conf: with other options, the store is another.
	conf string
	// conmon is the name of the file that monitors run, where it is a build.
	conmon string
}

// who resolves the factor rootless to the user who runs podman: nil is root.
func who(kit *engine.Kit, level string) (*engine.User, *engine.Error) {
	if level == engine.DefaultLevel {
		level = "yes"
		if kit.Root {
			level = "no"
		}
	}
	switch {
	case level == "no" && !kit.Root:
		return nil, &engine.Error{Class: record.Unavailable, Text: "rootful podman needs root", Fix: "sudo plimsoll …"}
	case level == "no":
		return nil, nil
	case kit.User == nil:
		return nil, &engine.Error{Class: record.Unavailable, Text: "rootless podman needs an ordinary user: " + kit.NoUser}
	case kit.User.RuntimeDir == "":
		return nil, &engine.Error{Class: record.Unavailable,
			Text: fmt.Sprintf("the user %s has no runtime directory (XDG_RUNTIME_DIR)", kit.User.Name), Fix: "loginctl enable-linger " + kit.User.Name}
	}
	if why, fix := userns.Forbidden("podman"); why != "" {
		return nil, &engine.Error{Class: record.Unavailable, Text: why, Fix: fix}
	}
	return kit.User, nil
}

// find gives podman for a user, on the store that the user has anyway.
func find(kit *engine.Kit, user *engine.User) (*program, *engine.Error) {
	path, err := kit.LookPath(Name)
	if err != nil {
		return nil, &engine.Error{Class: record.Unavailable, Text: "Podman is not installed", Fix: "apt-get install podman", Err: err}
	}
	p := &program{path: path, runID: kit.RunID, user: user}
	// Only what podman needs: no proxy, no registry credentials, no
	// CONTAINER_HOST that would turn it into a remote client.
	home := kit.Getenv("HOME")
	if user != nil {
		home = user.Home
		p.env = append(p.env, "USER="+user.Name, "LOGNAME="+user.Name, "XDG_RUNTIME_DIR="+user.RuntimeDir)
		if kit.Root {
			p.as = user
		}
	}
	p.mark = kit.Mark
	p.env = append(p.env, kit.MarkEnv()...)
	p.env = append(p.env, "PATH="+kit.Getenv("PATH"), "HOME="+home)
	if err := p.configure(kit); err != nil {
		return nil, err
	}
	if err := p.help(kit); err != nil {
		return nil, err
	}
	if !proc.SystemdRuns() && confile.At(p.given.File(configFile), "engine", "cgroup_manager") == nil {
		// Podman's default is systemd; it falls back with a warning on every command.
		p.global = append(p.global, "--cgroup-manager=cgroupfs")
	}
	return p, nil
}

// command is podman for the launcher.
func (p *program) command(args ...string) probe.Command {
	c := probe.Command{Argv: p.argv(args), Env: p.env, Dir: "/", Unsynced: p.unsynced}
	if p.as != nil {
		c.SetUser, c.UID, c.GID, c.Groups = true, p.as.UID, p.as.GID, p.as.Groups
	}
	return c
}

func (p *program) argv(args []string) []string {
	argv := append([]string{p.path}, p.global...)
	return append(argv, args...)
}

// failed is a command that ended with another status than 0.
type failed struct {
	status int
	said   string
}

func (f *failed) Error() string { return fmt.Sprintf("status %d: %s", f.status, f.said) }

// outliving are the commands that end by themselves where this process is killed: nothing is
// in the ledger yet, for which clean would run podman. One that died of a closed pipe leaves
// the mount of its storage on itself, until the next podman ends. They print little, since a
// full pipe would hold them for ever.
var outliving = []string{"version", "info", "image", "load"}

// output runs podman beside the trials and gives what it printed.
func (p *program) output(ctx context.Context, args ...string) ([]byte, error) {
	c := child.Command{Argv: p.argv(args), Env: p.env, Dir: "/", User: adapter.Credential(p.as), Limit: commandLimit, Outlives: slices.Contains(outliving, args[0])}
	// The pause process inherits our standard error where podman starts it.
	c.Leaves = true
	out, err := child.Run(ctx, c)
	var exit *exec.ExitError
	switch {
	case err == nil:
		return out.Stdout, nil
	case errors.As(err, &exit):
		return out.Stdout, &failed{status: exit.ExitCode(), said: adapter.Words(out.Stderr)}
	}
	return nil, err
}

// read decodes what podman prints as JSON.
func (p *program) read(ctx context.Context, into any, args ...string) error {
	out, err := p.output(ctx, args...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(out, into); err != nil {
		return fmt.Errorf("reading what podman %s printed: %w", args[0], err)
	}
	return nil
}

// wrong makes an engine.Error. What is a participle and its object.
func wrong(what string, err error) *engine.Error {
	class := record.EngineError
	if f, ok := errors.AsType[*failed](err); ok {
		class = adapter.Classify(f.said, patterns)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		class = record.TimeOut
	}
	return &engine.Error{Class: class, Text: what, Err: err}
}

// patterns are pieces of Podman's messages with what they stand for.
var patterns = []adapter.Pattern{
	{Text: "invalid runtime", Class: record.Unavailable},
	{Text: "default oci runtime", Class: record.Unavailable},
	{Text: "requested oci runtime", Class: record.Unavailable},
	{Text: "slirp4netns", Class: record.Unavailable},
	{Text: "no subuid ranges", Class: record.Unavailable},
	{Text: "cannot set up namespace", Class: record.Unavailable},
}

// name of the user for messages and store keys.
func (p *program) who() string {
	if p.user != nil {
		return p.user.Name
	}
	return "root"
}
