package cri

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"time"

	v1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/kata"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/record"
)

// gvisorLimit bounds the first pod under gVisor: with a shim that is not its
// own, pods have been seen to hang for a minute and more.
const gvisorLimit = 12 * time.Second

// prove runs one container and shows by what the server says of it, by what
// the runtime's program says of itself, and by what the payload sees from
// inside, that the components in force are the ones asked for. It also finds
// out whether the server tells of ends by events.
func (env *environment) prove(ctx context.Context) error {
	var seen evidence
	stream, err := env.s.listen(ctx)
	env.stream = stream
	if err != nil {
		env.AddFacts(map[string]string{"exit": pollFact(words(err))})
	}
	env.look = func(ctx context.Context, pod, container string) error {
		if stream != nil {
			env.AddFacts(map[string]string{"exit": env.byEvents(container)})
		}
		return seen.take(ctx, env.s, pod, container)
	}
	if env.spec.Level(engine.Runtime) == "runsc" {
		env.most = gvisorLimit
	}
	payload, err := adapter.Prove(ctx, env.kit, env, env.spec.ID)
	env.look, env.most = nil, 0
	if err != nil {
		return env.explain(err)
	}
	seen.Inside, seen.Host, seen.known = payload.Report, adapter.HostNow(), env.known
	// A pod that no handler was named for runs under the default one, which
	// some servers say by an empty name.
	seen.handler = env.state.handlers[cmp.Or(seen.told, env.settings.handler, env.state.byThe)]
	// A handler's name proves nothing. A shim that is its own runtime (gVisor's, Kata's)
	// has no program that could be asked.
	pid, _ := proc.Here.Behind(env.s.path) // 0: only an absolute path is found
	seen.program = adapter.Identify(ctx, pid, seen.handler.Path)
	env.AddFacts(seen.facts())
	if env.unreached = adapter.OnlyLoopback(seen.Inside); env.s.own != nil {
		env.unreached = "the pods of a private server are in a network of its own"
	}
	if level := env.spec.Level(engine.Runtime); env.kit.Built(level) != "" {
		env.AddFacts(map[string]string{"runtime": level}) // and not the name that tells builds apart
	}
	env.AddFacts(map[string]string{"client-library": adapter.Library("k8s.io/cri-api")})
	if !seen.Foreign() {
		if err := errors.Join(adapter.JudgeOmitted(env.spec, payload.Report), adapter.JudgeLayers(env.spec, payload.Report)); err != nil {
			return err
		}
	}
	return seen.judge(env.spec, env.settings.handler)
}

// explain adds what is known of a runtime that does not work here.
func (env *environment) explain(err error) error {
	var e *engine.Error
	h := env.state.handlers[env.settings.handler]
	if env.spec.Level(engine.Runtime) != "runsc" || !errors.As(err, &e) {
		return err
	}
	e.Class = record.Unavailable
	if strings.HasPrefix(h.Type, "io.containerd.runc.") {
		e.Text += "; gVisor runs here under runc's shim, which does not see the end of a container inside of gVisor's sandbox: it needs its own"
		e.Fix = `install containerd-shim-runsc-v1 and set runtime_type = "io.containerd.runsc.v1" for the handler ` + h.Name
	}
	return err
}

// byEvents finds out whether the server's events told of the end of a
// container, which the first one of an environment is polled for, and makes
// them the way for the trials.
func (env *environment) byEvents(container string) string {
	if env.stream.told(container, lostAfter) {
		env.events = env.stream
		return "GetContainerEvents"
	}
	return pollFact(env.stream.why())
}

// evidence is what was found out about a live container.
type evidence struct {
	pod       *v1.PodSandboxStatus
	container *v1.ContainerStatus
	told      string // the runtime handler by the server's word; empty where it says none
	info      moreInfo
	adapter.Seen
	known   known
	handler handler
	program adapter.Itself
}

// moreInfo is what servers tell of pods and containers beside the interface,
// where they do.
type moreInfo struct {
	RuntimeHandler string
	Snapshotter    string
	RuntimeSpec    struct{ Annotations map[string]string }
}

func (e *evidence) take(ctx context.Context, s *server, pod, container string) error {
	p, err := s.runtime.PodSandboxStatus(ctx, &v1.PodSandboxStatusRequest{PodSandboxId: pod, Verbose: true})
	if err != nil {
		return err
	}
	c, err := s.runtime.ContainerStatus(ctx, &v1.ContainerStatusRequest{ContainerId: container, Verbose: true})
	if err != nil {
		return err
	}
	e.pod, e.container = p.GetStatus(), c.GetStatus()
	var info moreInfo
	_ = json.Unmarshal([]byte(p.GetInfo()["info"]), &info) // what is not said stays empty
	_ = json.Unmarshal([]byte(c.GetInfo()["info"]), &e.info)
	e.told = cmp.Or(p.GetStatus().GetRuntimeHandler(), info.RuntimeHandler)
	for k, v := range info.RuntimeSpec.Annotations {
		if e.told == "" && strings.HasSuffix(k, ".RuntimeHandler") {
			e.told = v
		}
	}
	return nil
}

func (e *evidence) network() string {
	if e.pod.GetLinux().GetNamespaces().GetOptions().GetNetwork() == v1.NamespaceMode_NODE {
		return "host"
	}
	return "pod"
}

func (e *evidence) facts() map[string]string {
	f := map[string]string{
		"runtime": e.handler.Name, "runtime-type": e.handler.Type, "runtime-program": e.program.Program,
		"runtime-version": e.program.Version, "runtime-path": e.handler.Path,
		"root-fs": e.Inside["root.fs"], "network": e.network(), "kernel": e.Kernel(),
		"seccomp": "off", "seccomp-inside": e.Inside["seccomp"], "image-id": e.known.id(e.container.GetImageRef()), "user": "root",
	}
	if e.Inside["seccomp"] == "2" && e.Host.Seccomp != "2" {
		f["seccomp"] = "default"
	}
	if e.info.Snapshotter != "" {
		f["storage"] = e.info.Snapshotter
	}
	if e.Foreign() {
		if name, ok := kata.Is(e.handler.Name); ok {
			maps.Copy(f, kata.Machine{}.Facts(name))
		}
		delete(f, "seccomp") // the sandbox has a filter of its own around it
	}
	return f
}

// judge compares what was found with what was asked for. What the environment
// was not told to vary is only recorded.
func (e *evidence) judge(spec engine.Spec, handler string) error {
	if want := spec.Level(engine.Runtime); want != engine.DefaultLevel {
		if e.told != "" && e.told != handler {
			return adapter.Wrong("asked for the runtime handler %s, the CRI server says that the pod ran under %s", handler, e.told)
		}
		if err := e.program.Wrong(want, "the CRI server's "+handler); err != nil {
			return err
		}
		virtual := want == "runsc" || strings.HasPrefix(want, "kata")
		if foreign := e.Foreign(); foreign != virtual {
			return adapter.Wrong("asked for the runtime %s, and the payload saw the kernel %s", want, e.Inside["uname.release"])
		}
	}
	if want := spec.Level(engine.Storage); want != engine.DefaultLevel && e.info.Snapshotter != "" && e.info.Snapshotter != want {
		return adapter.Wrong("asked for the storage %s, the container's is %s", want, e.info.Snapshotter)
	}
	if err := e.judgeNetwork(spec.Level(engine.Network)); err != nil {
		return err
	}
	in := e.Inside["seccomp"]
	if e.Foreign() || in == "" || e.Host.Seccomp != "0" {
		return nil // where we live under a filter ourselves, so does every child
	}
	if off := spec.Level(engine.Seccomp) == "off"; off != (in == "0") {
		return adapter.Wrong("asked for seccomp %s, and the payload ran in mode %s", spec.Level(engine.Seccomp), in)
	}
	return nil
}

func (e *evidence) judgeNetwork(want string) error {
	if got := e.network(); (got == "host") != (want == "host") {
		return adapter.Wrong("asked for the network %s, the pod's is %s", want, got)
	}
	return e.JudgeNetwork(want)
}
