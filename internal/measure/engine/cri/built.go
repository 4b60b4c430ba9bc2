package cri

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/buildconfig"
	"plimsoll/internal/measure/engine/cni"
	"plimsoll/internal/measure/engine/confile"
	"plimsoll/internal/measure/engine/containerdclient"
	"plimsoll/internal/measure/engine/private"
	"plimsoll/internal/record"
)

// ownServer is a private server of the CRI: the user's is not told of builds.
type ownServer struct {
	*private.Daemon
	program       string // what it is by name
	socket, group string
	given         *buildconfig.Configuration
	configuredBy  string // how it is known that its file is in effect
}

// stop ends a private server whose start has failed half-way.
func (o *ownServer) stop(ctx context.Context, why error) error {
	return errors.Join(why, o.Close(context.WithoutCancel(ctx)))
}

const (
	shimProgram = "containerd-shim-runc-v2"
	conmon      = "conmon"
)

// set are the programs of servers of which there may be builds.
func set() []engine.Program {
	ofContainerd, ofCRIO := map[string]string{engine.Endpoint: containerd}, map[string]string{engine.Endpoint: crio}
	return []engine.Program{
		{Name: containerd, Stays: true, Files: []string{containerdclient.ConfigFile}, Variables: true, Joins: true, With: ofContainerd},
		{Name: shimProgram, Version: "-v", Helps: "namespace that owns the shim", With: ofContainerd},
		{Name: crio, Stays: true, Files: []string{crioFile}, Elsewhere: map[string]string{storageFile: inCRIOFile}, Variables: true, Joins: true, With: ofCRIO},
		{Name: conmon, With: ofCRIO},
	}
}

// setOf are the names of those of a kind of server.
func setOf(kind string) (names []string) {
	for _, p := range set() {
		if p.With[engine.Endpoint] == kind {
			names = append(names, p.Name)
		}
	}
	return names
}

// foreign says which build is one of another kind of server's.
func foreign(kit *engine.Kit, kind string) error {
	for _, p := range set() {
		if b := kit.BuildOf(p.Name); b != nil && p.With[engine.Endpoint] != kind {
			return &engine.Error{Class: record.Unsupported, Text: fmt.Sprintf("%s is %s, of which the %s that serves the CRI here runs none", b.Name(), p.Name, kind),
				Fix: "name endpoint=" + p.With[engine.Endpoint]}
		}
	}
	return nil
}

func (env *environment) Configured() error {
	if env.s.own == nil {
		return nil
	}
	return env.s.own.given.Holds(env.s.own.PID)
}

// buildable are the runtimes of which a build can be a handler of a server: those that
// runc's shim, or conmon, calls.
var buildable = []string{"runc", "crun", "youki"}

// canBuild says what is in the way of a private server with a build of a runtime.
func (s *server) canBuild(kit *engine.Kit, runtime string) error {
	if kit.Built(runtime) != "" && !slices.Contains(buildable, runtime) {
		return &engine.Error{Class: record.Unsupported, Text: "a build of " + runtime + " below a CRI server is not supported: it needs its own shim"}
	}
	is := endpointOf(s.version.GetRuntimeName())
	if no := cmp.Or(private.Joined(kit, is), private.Root(kit)); no != nil {
		return no
	}
	switch is {
	case containerd:
		if _, err := kit.LookPath(containerd); err != nil {
			return &engine.Error{Class: record.Unavailable, Text: "the program containerd, for a private daemon, is not on the PATH", Fix: "apt-get install containerd"}
		}
	case crio:
		if _, err := s.crioProgram(kit); err != nil {
			return err
		}
	default:
		return &engine.Error{Class: record.Unsupported, Text: fmt.Sprintf("a build runs below a private containerd or CRI-O, and this server is %s", is),
			Fix: "name endpoint=" + containerd}
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
func (e *Engine) privately(ctx context.Context, kit *engine.Kit, user *server, spec engine.Spec, set string, path []string) (*server, func(context.Context) error, error) {
	if err := errors.Join(user.canBuild(kit, spec.Level(engine.Runtime)), private.HostNetwork(spec)); err != nil {
		return nil, nil, err
	}
	own, leave, err := e.own.Get(ctx, kit.RunID+" "+set, func(ctx context.Context) (*ownServer, func(context.Context) error, error) {
		begin := start
		if endpointOf(user.version.GetRuntimeName()) == crio {
			begin = startCRIO
		}
		o, err := begin(ctx, kit, user, set, path)
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
		return nil, nil, errors.Join(fmt.Errorf("connecting to the private %s: %w", own.program, err), leave(ctx))
	}
	s.runID, s.own = kit.RunID, own
	return s, leave, nil
}

// left are directories of the host in which something would stay of a server that is
// killed: the names of pods' network namespaces, and what CNI remembers of addresses.
var left = []string{"/run/netns", "/var/lib/cni"}

// nameOf is a private server's, which is short, since it is part of a socket's path.
func nameOf(set string) string {
	if set == "" {
		return "cri"
	}
	return fmt.Sprintf("cri-%.6s", set)
}

func groupOf(kit *engine.Kit, name string) string { return "plimsoll-" + kit.RunID + "-" + name }

// ready says whether pods can be made.
func (o *ownServer) ready(ctx context.Context, _ *private.Daemon) error {
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

// start starts a private containerd, and gives it the image of pods that the user's has.
func start(ctx context.Context, kit *engine.Kit, user *server, set string, path []string) (*ownServer, error) {
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
	name := nameOf(set)
	o := &ownServer{program: containerd, group: groupOf(kit, name), configuredBy: containerdclient.ConfiguredBy}
	if o.given, err = containerdclient.Configured(kit); err != nil {
		return nil, err
	}
	hidden := append([]string{"/run/containerd"}, left...)
	opts := private.Options{Name: name, Env: slices.Concat(path, o.given.Variables, kit.Spans.Env()), Hide: hidden, Cgroups: []string{o.group}, Reaches: kit.Spans.Reach(), Linger: kit.Spans.Linger()}
	opts.Configure = func(dir string) ([]string, error) {
		o.socket = filepath.Join(dir, "c.sock")
		c := configuration{dir: dir, socket: o.socket, pause: pause, plugins: plugins, like: like, builds: kit.AllBuilds, plain: plainRuntimes(kit)}
		out, err := child.Run(ctx, child.Command{Argv: []string{program, "--version"}, Limit: askLimit})
		if err != nil {
			return nil, err
		}
		if f := strings.Fields(string(out.Stdout)); len(f) > 2 {
			c.second = strings.HasPrefix(strings.TrimPrefix(f[2], "v"), "2.")
		}
		file := filepath.Join(dir, containerdclient.ConfigFile)
		c.traced = containerdclient.Tracing(kit.Spans, c.second)
		if err := c.write(o.given); err != nil {
			return nil, err
		}
		return []string{program, "--config", file}, containerdclient.Understood(ctx, o.given, program, file)
	}
	opts.Ready = o.ready
	if o.Daemon, err = private.Start(ctx, kit, opts); err != nil {
		return nil, err
	}
	if err := copyImage(ctx, user.path, o.socket, pause, snapshotterOf(o.given, like)); err != nil {
		return nil, o.stop(ctx, err)
	}
	return o, nil
}

// plainRuntimes are the paths of the runtimes on the PATH, by their names: handlers of a
// private server beside builds.
func plainRuntimes(kit *engine.Kit) map[string]string {
	all := map[string]string{}
	for _, name := range buildable {
		if path, err := kit.LookPath(name); err == nil && kit.Built(name) == "" {
			all[name] = path
		}
	}
	return all
}

// snapshotterOf is the one that a configuration names, else that of the user's server.
func snapshotterOf(c *buildconfig.Configuration, like *state) string {
	for _, key := range [][]string{{"plugins", "io.containerd.grpc.v1.cri", "containerd", "snapshotter"}, {"plugins", "io.containerd.cri.v1.images", "snapshotter"}} {
		if name, _ := confile.At(c.File(containerdclient.ConfigFile), key...).(string); name != "" {
			return name
		}
	}
	return like.snapshotter()
}
