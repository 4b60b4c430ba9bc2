package portable

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/moby/moby/api/types/system"
	"github.com/moby/moby/client"

	"plimsoll/internal/measure/engine"
)

// Found is what was found of an engine.
type Found struct {
	Engine string            `json:"engine"`
	Where  string            `json:"where,omitempty"`   // the address
	By     string            `json:"by,omitempty"`      // by whose word
	Kind   string            `json:"reached,omitempty"` // by what kind of interface
	Facts  map[string]string `json:"facts,omitempty"`
	// RoundTrip is that of a request, ns; 0 where the API does not answer.
	RoundTrip int64 `json:"round_trip_ns,omitempty"`
	// Reason says why the API can't be used, Fix what would help; NoProgram why the
	// command line can't.
	Reason    string `json:"reason,omitempty"`
	Fix       string `json:"fix,omitempty"`
	NoProgram string `json:"no_program,omitempty"`
	// Verified says with what somebody has measured so already; Unverified why this is
	// the first time. An engine that is not reached has neither.
	Verified   string `json:"verified_by,omitempty"`
	Unverified string `json:"unverified,omitempty"`

	address Address
	id      string // the daemon's own, where that is the same with each answer
	info    *system.Info
}

// Look looks for the engines, once each.
type Look struct {
	Context context.Context
	Around  Surroundings
	Images  *Images

	mu    sync.Mutex
	found map[string]*Found
}

// Found looks for one.
func (l *Look) Found(name string) *Found {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f := l.found[name]; f != nil {
		return f
	}
	f := l.Around.look(l.Context, name)
	if l.found == nil {
		l.found = map[string]*Found{}
	}
	l.found[name] = f
	return f
}

func (s Surroundings) look(ctx context.Context, name string) *Found {
	f := &Found{Engine: name}
	defer func() { f.judge(s.System) }()
	if _, err := s.LookPath(name); err != nil {
		f.NoProgram = "the program " + name + " is not on the PATH"
	}
	a, err := s.Find(name)
	f.address, f.Where, f.By = a, a.Host, a.From
	if err == nil {
		f.Kind = a.Kind()
		err = f.ask(ctx)
	}
	if err != nil {
		f.Reason, f.Fix = engine.Reason(err)
		if name == Podman && f.NoProgram == "" {
			f.askCommand(ctx, s)
		}
	}
	return f
}

// ask asks the daemon what it is.
func (f *Found) ask(ctx context.Context) error {
	d, err := f.address.Connect("")
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Greet(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, engine.DetectLimit)
	defer cancel()
	info, err := d.Info(ctx, client.InfoOptions{})
	if err != nil {
		return d.wrong("asking the daemon for its state", err)
	}
	if err := runsOurs(&info.Info); err != nil {
		return err
	}
	if f.RoundTrip, err = d.RoundTrip(ctx); err != nil {
		return d.wrong("measuring the round trip", err)
	}
	f.info, f.Facts = &info.Info, facts(&info.Info, d.ClientVersion())
	if again, err := d.Info(ctx, client.InfoOptions{}); err == nil {
		f.id = idOf(info.Info.ID, again.Info.ID)
	}
	return nil
}

// machineFact is the fact that has the name of the engine's machine.
const machineFact = "daemon-machine"

// architectures are uname's words for Go's.
var architectures = map[string]string{"x86_64": "amd64", "aarch64": "arm64"}

// runsOurs says whether the daemon's machine runs the payload that we carry.
func runsOurs(info *system.Info) error {
	if info.OSType != "" && info.OSType != "linux" {
		return unavailable(nil, "switch it to Linux containers", "the daemon runs containers of %s, and the payload is a program of Linux", info.OSType)
	}
	arch := info.Architecture
	if a := architectures[arch]; a != "" {
		arch = a
	}
	if arch != runtime.GOARCH {
		return unavailable(nil, "", "the daemon's machine is %s, and this program carries the payload for %s: use the program of that architecture", arch, runtime.GOARCH)
	}
	return nil
}

// facts are what a daemon says of itself.
func facts(info *system.Info, version string) map[string]string {
	cgroup := "v1"
	if info.CgroupVersion != "" {
		cgroup = "v" + info.CgroupVersion
	}
	f := map[string]string{
		"version": info.ServerVersion, "api-version": version, "storage": info.Driver, "cgroup": cgroup, "cgroup-driver": info.CgroupDriver,
		"default-runtime": info.DefaultRuntime, "daemon-kernel": info.KernelVersion, "daemon-os": info.OperatingSystem, "rootless": "no",
		"daemon-cpus": fmt.Sprint(info.NCPU), "daemon-memory": fmt.Sprint(info.MemTotal), machineFact: nameOf(info.Name),
	}
	for _, o := range info.SecurityOptions {
		if strings.Contains(o, "name=rootless") {
			f["rootless"] = "yes"
		}
	}
	return f
}

// offers says why a level can't be had; "" where it can.
func (f *Found) offers(factor, level string, images *Images) (reason, fix string) {
	switch factor {
	case engine.Client, engine.Network, engine.Seccomp, engine.CPULimit, engine.MemoryLimit:
		return "", ""
	case engine.Image:
		return images.Has(level)
	}
	if f.info == nil && f.Facts == nil {
		return "only the daemon's API tells whether it has " + factor + " " + level + ": " + f.Reason, f.Fix
	}
	is := func(have string) (string, string) {
		if have == level {
			return "", ""
		}
		return fmt.Sprintf("the engine's %s is %s, and --portable takes it as it is", factor, have), ""
	}
	switch factor {
	case engine.Runtime:
		names := []string{f.Facts["default-runtime"]}
		if f.info != nil {
			names = slices.Sorted(maps.Keys(f.info.Runtimes))
		}
		if slices.Contains(names, level) {
			return "", ""
		}
		return fmt.Sprintf("the daemon has no runtime %s; it has %s", level, strings.Join(names, ", ")), ""
	case engine.Storage:
		return is(f.Facts["storage"])
	case engine.Driver:
		return is(f.Facts["cgroup-driver"])
	case engine.Cgroup:
		return is(f.Facts["cgroup"])
	case engine.Rootless:
		return is(f.Facts["rootless"])
	}
	return "the factor " + factor + " needs the engine's own kernel", ""
}
