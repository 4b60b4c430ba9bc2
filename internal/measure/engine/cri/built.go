package cri

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/cni"
	"plimsoll/internal/measure/engine/private"
	"plimsoll/internal/record"
)

// ownServer is a private containerd that serves the CRI: the user's server is not told
// of builds.
type ownServer struct {
	*private.Daemon
	socket string
}

// buildable are the runtimes of which a build can be a handler of a server: those that
// runc's shim calls.
var buildable = []string{"runc", "crun", "youki"}

// canBuild says what is in the way of a private server with a build of a runtime.
func (s *server) canBuild(kit *engine.Kit, runtime string) error {
	if !slices.Contains(buildable, runtime) {
		return &engine.Error{Class: record.Unsupported, Text: "a build of " + runtime + " below a CRI server can't be had: it needs a shim of its own"}
	}
	if is := endpointOf(s.version.GetRuntimeName()); is != containerd {
		return &engine.Error{Class: record.Unsupported, Text: fmt.Sprintf("a build of a runtime runs below a private containerd's CRI, and this server is %s", is),
			Fix: "name endpoint=" + containerd}
	}
	if no := private.Root(kit); no != nil {
		return no
	}
	if _, err := kit.LookPath(containerd); err != nil {
		return &engine.Error{Class: record.Unavailable, Text: "the program containerd, for a private daemon, is not on the PATH", Fix: "apt-get install containerd"}
	}
	_, err := cni.Find(kit)
	return err
}

// handlerOf is the handler by which a private server knows a build.
func handlerOf(runtime, path string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(path)) // never fails
	return fmt.Sprintf("plimsoll-%s-%08x", runtime, h.Sum32())
}

// privately gives a private server of the kind that the user's is, which knows all
// builds of the run: one server, so that nothing but the runtime differs.
func (e *Engine) privately(ctx context.Context, kit *engine.Kit, user *server, spec engine.Spec) (*server, func(context.Context) error, error) {
	if err := errors.Join(user.canBuild(kit, spec.Level(engine.Runtime)), private.HostNetwork(spec)); err != nil {
		return nil, nil, err
	}
	own, leave, err := e.own.Get(ctx, kit.RunID, func(ctx context.Context) (*ownServer, func(context.Context) error, error) {
		o, err := start(ctx, kit, user)
		if err != nil {
			return nil, nil, err
		}
		return o, o.Close, nil
	})
	if err != nil {
		return nil, nil, err
	}
	s, err := dial(ctx, own.socket)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("connecting to the private containerd: %w", err), leave(ctx))
	}
	s.runID, s.own = kit.RunID, own.Daemon
	return s, leave, nil
}

// start starts a private server, and gives it the image of pods that the user's has.
func start(ctx context.Context, kit *engine.Kit, user *server) (*ownServer, error) {
	like, err := user.ask(ctx)
	if err != nil {
		return nil, err
	}
	program, err := kit.LookPath(containerd)
	if err != nil {
		return nil, err
	}
	plugins, err := cni.Find(kit)
	if err != nil {
		return nil, err
	}
	pause, err := user.pauseImage(ctx, like)
	if err != nil {
		return nil, err
	}
	o := &ownServer{}
	group := ownGroup(kit.RunID)
	opts := private.Options{Name: "cri", Hide: []string{"/run/containerd"}, Cgroups: []string{group}}
	opts.Configure = func(dir string) ([]string, error) {
		o.socket = filepath.Join(dir, "c.sock")
		c := configuration{dir: dir, socket: o.socket, pause: pause, plugins: plugins, like: like, builds: kit.AllBuilds}
		out, err := child.Run(ctx, child.Command{Argv: []string{program, "--version"}, Limit: askLimit})
		if err != nil {
			return nil, err
		}
		if f := strings.Fields(string(out.Stdout)); len(f) > 2 {
			c.second = strings.HasPrefix(strings.TrimPrefix(f[2], "v"), "2.")
		}
		return []string{program, "--config", filepath.Join(dir, "config.toml")}, c.write()
	}
	opts.Ready = func(ctx context.Context, _ *private.Daemon) error {
		s, err := dial(ctx, o.socket)
		if err != nil {
			return err
		}
		defer s.close()
		st, err := s.ask(ctx)
		if err != nil {
			return err
		}
		return errors.Join(st.condition("RuntimeReady"), st.condition("NetworkReady"))
	}
	if o.Daemon, err = private.Start(ctx, kit, opts); err != nil {
		return nil, err
	}
	if err := copyImage(ctx, user.path, o.socket, pause, like.snapshotter()); err != nil {
		return nil, errors.Join(err, o.Close(context.WithoutCancel(ctx)))
	}
	return o, nil
}

// ownGroup is the control group of the pods of a private server.
func ownGroup(runID string) string { return "plimsoll-" + runID + "-cri" }
