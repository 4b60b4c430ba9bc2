package cri

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
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

// configuration is that of a containerd which serves the CRI and nothing else. 1.x
// reads version 2 of the format, 2.x version 3, with the plug-in in two parts.
type configuration struct {
	dir, socket, pause, plugins string
	second                      bool
	like                        *state // the user's
	builds                      []record.Build
}

func (c configuration) write() error {
	if err := os.Mkdir(filepath.Join(c.dir, "cni"), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(c.dir, "cni", "plimsoll.conflist"), []byte(c.network()), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(c.dir, "config.toml"), []byte(c.text()), 0o600)
}

// network is a bridge in the daemon's own network namespace: from there nothing
// is reached, and no packet filter is touched.
func (c configuration) network() string {
	return fmt.Sprintf(`{"cniVersion": "0.4.0", "name": "plimsoll", "plugins": [{"type": "bridge", "bridge": "plimsoll0", "isGateway": true, "ipMasq": false,
 "ipam": {"type": "host-local", "dataDir": %q, "ranges": [[{"subnet": "10.88.0.0/16"}]], "routes": [{"dst": "0.0.0.0/0"}]}}]}
`, filepath.Join(c.dir, "addresses"))
}

func (c configuration) text() string {
	format, images, runtime := 2, "io.containerd.grpc.v1.cri", "io.containerd.grpc.v1.cri"
	if c.second {
		format, images, runtime = 3, "io.containerd.cri.v1.images", "io.containerd.cri.v1.runtime"
	}
	var b strings.Builder
	table := func(of, name string, lines ...string) {
		fmt.Fprintf(&b, "[plugins.%q%s]\n%s\n", of, name, strings.Join(lines, "\n"))
	}
	fmt.Fprintf(&b, "version = %d\nroot = %q\nstate = %q\n[grpc]\naddress = %q\n", format, filepath.Join(c.dir, "root"), filepath.Join(c.dir, "state"), c.socket)
	table("io.containerd.internal.v1.opt", "", fmt.Sprintf("path = %q", filepath.Join(c.dir, "opt")))
	table("io.containerd.nri.v1.nri", "", "disable = true")
	own := []string{fmt.Sprintf("restrict_oom_score_adj = %v", c.like.restricted), fmt.Sprintf("disable_apparmor = %v", c.like.noAppArmor)}
	store := fmt.Sprintf("snapshotter = %q", c.like.snapshotter())
	first := ""
	for _, r := range c.builds {
		if slices.Contains(buildable, r.Program) && first == "" {
			first = fmt.Sprintf("default_runtime_name = %q", handlerOf(r.Program, r.Path))
		}
	}
	if c.second {
		table(runtime, "", own...)
		table(images, "", store)
		table(images, ".pinned_images", fmt.Sprintf("sandbox = %q", c.pause))
		table(runtime, ".containerd", first)
		table("io.containerd.grpc.v1.cri", "", `stream_server_address = "127.0.0.1"`)
	} else {
		table(runtime, "", append(own, fmt.Sprintf("sandbox_image = %q", c.pause), `stream_server_address = "127.0.0.1"`)...)
		table(runtime, ".containerd", store, first)
	}
	table(runtime, ".cni", c.pluginDir(), fmt.Sprintf("conf_dir = %q", filepath.Join(c.dir, "cni")))
	for _, r := range c.builds {
		if !slices.Contains(buildable, r.Program) {
			continue
		}
		name := ".containerd.runtimes." + handlerOf(r.Program, r.Path)
		table(runtime, name, `runtime_type = "io.containerd.runc.v2"`)
		table(runtime, name+".options", fmt.Sprintf("BinaryName = %q", r.Path), "SystemdCgroup = false")
	}
	return b.String()
}

func (c configuration) pluginDir() string {
	if c.second {
		return fmt.Sprintf("bin_dirs = [%q]", c.plugins)
	}
	return fmt.Sprintf("bin_dir = %q", c.plugins)
}
