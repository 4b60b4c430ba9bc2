package docker

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/moby/moby/api/types/system"
	"github.com/moby/moby/client"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/record"
)

func (e *Engine) Detect(ctx context.Context, kit *engine.Kit) engine.Detection {
	ctx, cancel := child.Within(ctx, engine.DetectLimit)
	defer cancel()
	det := engine.Detection{Where: strings.TrimPrefix(e.host(kit), "unix://")}
	unusable := func(err error) engine.Detection {
		det.Reason, det.Fix = engine.Reason(err)
		return det
	}
	d, err := e.user(ctx, kit)
	if err != nil {
		return unusable(err)
	}
	defer d.Close()
	info, err := d.Info(ctx, client.InfoOptions{})
	if err != nil {
		wrong := d.wrong("asking the daemon for its state", err)
		if !e.installed(kit) && gone(err) {
			wrong.Text, wrong.Fix = e.title+" is not installed, or its daemon does not run", e.install
		}
		return unusable(wrong)
	}
	det.Usable = true
	det.Version = info.Info.ServerVersion
	det.Facts = daemonFacts(&info.Info)
	det.Facts["api-version"] = d.ClientVersion()
	det.Levels = engine.LevelsBy(e.Info().Levels, func(factor, level string) error {
		err := e.offered(kit, &info.Info, factor, level)
		if err != nil && e.daemon != "" {
			err = e.privately(kit, &info.Info, factor, level, err)
		}
		if err == nil {
			return nil
		}
		return err
	})
	return det
}

// offered says whether a daemon has a level; the error has the reason and what
// would help.
func (e *Engine) offered(kit *engine.Kit, info *system.Info, factor, level string) *engine.Error {
	if level == engine.DefaultLevel {
		return nil
	}
	no := func(fix, format string, args ...any) *engine.Error {
		return &engine.Error{Class: record.Unavailable, Text: fmt.Sprintf(format, args...), Fix: fix}
	}
	if known := e.Info().Levels; len(known[factor]) > 0 {
		if err := engine.Unknown(e.name, known, factor, level); err != nil {
			return err
		}
	}
	switch factor {
	case engine.Without, engine.With:
		if why := adapter.NotHere(factor, level); why != "" {
			return no("", "%s", why)
		}
		return e.ownMechanism(kit, info, level)
	case engine.Runtime:
		if kit.Built(level) != "" {
			return e.canBuild(kit, info)
		}
		if runtimeName(info, level) == "" {
			return e.noRuntime(info, level)
		}
	case engine.Storage:
		if info.Driver != level {
			return no("", "the %s daemon's storage driver is %s", e.name, info.Driver)
		}
	case engine.Driver:
		if info.CgroupDriver != level {
			return no("", "the %s daemon's cgroup driver is %s", e.name, info.CgroupDriver)
		}
	case engine.Client:
		if level == byCLI {
			if _, err := kit.LookPath(e.program); err != nil {
				return no(e.cliPackage, "the program %s is not on the PATH", e.program)
			}
		}
	case engine.Rootless:
		if is := rootless(info); is != level {
			fix := "point " + e.variable + " to the socket of the other daemon"
			if b := kit.BuildOf(e.daemon); b != nil && b.Socket != "" { // which goes before the variable
				fix = "name the socket of another one: --build " + b.Name() + "=unix://SOCKET"
			}
			return no(fix, "the %s daemon at %s runs with rootless %s", e.name, e.host(kit), is)
		}
	case engine.Seccomp:
		if !hasSecurity(info, "seccomp") {
			return no("", "the daemon knows no seccomp, so nothing can be switched %s", level)
		}
	}
	return nil
}

// daemonFacts are what a daemon says of itself.
func daemonFacts(info *system.Info) map[string]string {
	facts := map[string]string{
		"version":         info.ServerVersion,
		"storage":         info.Driver,
		"cgroup":          cgroupVersion(info),
		"cgroup-driver":   info.CgroupDriver,
		"default-runtime": info.DefaultRuntime,
		"rootless":        rootless(info),
		"security":        strings.Join(securityNames(info), ","),
		"daemon-kernel":   info.KernelVersion,
	}
	for _, s := range info.DriverStatus {
		if s[0] == "Backing Filesystem" {
			facts["storage-on"] = s[1]
		}
		if s[0] == "driver-type" {
			facts["image-store"] = s[1]
		}
	}
	return facts
}

func cgroupVersion(info *system.Info) string {
	if info.CgroupVersion == "" {
		return "v1" // before API 1.41 there was nothing else
	}
	return "v" + info.CgroupVersion
}

func rootless(info *system.Info) string {
	if hasSecurity(info, "rootless") {
		return "yes"
	}
	return "no"
}

// securityNames reads entries such as "name=seccomp,profile=default".
func securityNames(info *system.Info) []string {
	var names []string
	for _, o := range info.SecurityOptions {
		for _, kv := range strings.Split(o, ",") {
			if n, ok := strings.CutPrefix(kv, "name="); ok {
				names = append(names, n)
			}
		}
	}
	slices.Sort(names)
	return names
}

func hasSecurity(info *system.Info, name string) bool {
	return slices.Contains(securityNames(info), name)
}
