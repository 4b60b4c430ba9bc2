package containerd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/measure/host/proc"
)

func (e *Engine) Detect(ctx context.Context, kit *engine.Kit) engine.Detection {
	if kit.Joined(daemonProgram) == "" && (kit.Built(daemonProgram) != "" || kit.Built(shimProgram) != "") {
		return e.detectBuilt(ctx, kit)
	}
	d, version, err := connect(ctx, kit)
	if err != nil {
		det := engine.Detection{}
		det.Reason, det.Fix = engine.Reason(err)
		if _, err := kit.LookPath("containerd"); err != nil {
			det.Fix = "apt-get install containerd"
		}
		return det
	}
	defer func() { _ = d.Close() }() // a connection that was only read from
	det := engine.Detection{Usable: true, Version: version, Where: d.socket, Levels: map[string][]engine.Level{}}
	plugins, err := d.plugins(ctx)
	if err != nil {
		det.Usable = false
		det.Reason, det.Fix = engine.Reason(d.wrong("asking for the plug-ins", err))
		return det
	}
	det.Facts = map[string]string{"cgroup": cgroup.Version(), engine.Driver: cgroup.Driver, "snapshotters": strings.Join(plugins.usable(), ",")}
	e.levels(&det, kit, plugins)
	return det
}

// detectBuilt is Detect for a set of builds, which runs privately: the user's daemon is
// not asked.
func (e *Engine) detectBuilt(ctx context.Context, kit *engine.Kit) engine.Detection {
	det := engine.Detection{Levels: map[string][]engine.Level{}, Facts: map[string]string{"cgroup": cgroup.Version(), engine.Driver: cgroup.Driver}}
	path, err := kit.LookPath(daemonProgram)
	if err == nil {
		det.Version, err = tool(ctx, path, "--version")
	}
	if err != nil {
		det.Reason, det.Fix = engine.Reason(err)
		return det
	}
	det.Usable, det.Where, det.Version = true, path, versionIn(det.Version)
	e.levels(&det, kit, plugins{})
	return det
}

// levels tells which levels can be had with a daemon's plug-ins, or privately.
func (e *Engine) levels(det *engine.Detection, kit *engine.Kit, plugins plugins) {
	det.Levels = engine.LevelsUnless(e.Info().Levels, func(factor, level string) (reason, fix string) {
		return possible(kit, plugins, factor, level)
	})
}

// possible says why a level can't be had, and what would help.
func possible(kit *engine.Kit, plugins plugins, factor, level string) (reason, fix string) {
	switch factor {
	case engine.Without, engine.With:
		if p := engine.Parts(factor, level); slices.Contains(p, engine.OwnDaemon) || slices.Contains(p, engine.Durability) {
			if err := canStart(kit, defaultStorage); err != nil {
				return engine.Reason(err)
			}
		}
		return adapter.NotHere(factor, level), ""
	case engine.Runtime:
		_, err := chooseRuntime(kit, level)
		if err != nil {
			return engine.Reason(err)
		}
	case engine.Storage:
		if level == engine.DefaultLevel {
			level = defaultStorage
		}
		why := plugins.lacks(level)
		if _, err := kit.LookPath("mkfs.erofs"); why == "" && level == "erofs" && err != nil {
			return "the program mkfs.erofs, which containerd calls for each layer, is not on the PATH", "apt-get install erofs-utils"
		}
		if why == "" {
			return "", ""
		}
		if err := canStart(kit, level); err != nil {
			reason, fix = engine.Reason(err)
			return why + "; " + reason, fix
		}
	case engine.Client:
		if _, err := kit.LookPath("ctr"); level == byCLI && err != nil {
			return "the program ctr is not on the PATH", "apt-get install containerd"
		}
	case engine.Driver:
		if level == "systemd" && !proc.SystemdRuns() {
			return "systemd does not run here", ""
		}
	}
	return "", ""
}

// plugins are a daemon's snapshotters, each with what went wrong with it.
type plugins map[string]snapshotter

type snapshotter struct {
	problem string // the daemon's own words; empty where it works
}

const (
	snapshotterType = "io.containerd.snapshotter.v1"
)

func (d *daemon) plugins(ctx context.Context) (plugins, error) {
	ctx, cancel := child.Within(ctx, askLimit)
	defer cancel()
	resp, err := d.IntrospectionService().Plugins(ctx, "type=="+snapshotterType)
	if err != nil {
		return nil, err
	}
	found := plugins{}
	for _, p := range resp.Plugins {
		s := snapshotter{}
		if p.InitErr != nil {
			s.problem = cmp.Or(p.InitErr.Message, "the plug-in did not start")
		}
		found[p.ID] = s
	}
	return found, nil
}

func (p plugins) usable() []string {
	var names []string
	for _, name := range storageLevels {
		if s, ok := p[name]; ok && s.problem == "" {
			names = append(names, name)
		}
	}
	return names
}

// lacks says why the daemon does not offer a snapshotter.
func (p plugins) lacks(name string) string {
	s, ok := p[name]
	switch {
	case !ok:
		return "this containerd has no snapshotter " + name
	case s.problem != "":
		return fmt.Sprintf("containerd's snapshotter %s does not work: %s", name, strings.TrimSuffix(s.problem, ": skip plugin"))
	}
	return ""
}
