// Package nerdctl measures containerd by nerdctl, as its users on a command
// line do.
//
// It is opinionated: nerdctl works in a namespace of the run's own, with a data
// directory of the run's own, on the containerd that is there. `nerdctl run
// --rm` is one life. The bridge is offered only where nerdctl has set up its
// own network before: it would write into the machine's CNI configuration and
// leave firewall chains. nerdctl has no log driver "none", so that output goes
// through its json-file logger, unlike elsewhere; the facts say so.
package nerdctl

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/record"
)

const (
	title  = "nerdctl"
	binary = "nerdctl"
	fix    = "install nerdctl (https://github.com/containerd/nerdctl/releases)"
)

// Engine is the adapter.
type Engine struct {
	spaces adapter.Pool[any] // the run's namespace
	images adapter.Pool[any] // by storage and tag
}

// New makes the adapter.
func New() *Engine { return &Engine{} }

var levels = map[string][]string{
	engine.Runtime:  {"runc", "crun"},
	engine.Storage:  {"overlayfs", "native"},
	engine.Network:  {"none", "host", "bridge"},
	engine.Rootless: {"no"},
	engine.Seccomp:  {engine.DefaultLevel, "off"},
	engine.Client:   {"cli"},
	engine.Image:    engine.ImageLevels(),
	engine.Without:  engine.WithoutLevels(mechanisms),
	engine.With:     engine.WithLevels(mechanisms),
}

func (*Engine) Info() engine.Info {
	return engine.Info{Name: "nerdctl", Title: title, Levels: engine.Known(levels), Detached: true,
		Typical: 600 * time.Millisecond, Images: engine.ImagesGiven,
		Processes: engine.Processes{Daemons: []string{"containerd"}, Helpers: []string{"containerd-shim", "nerdctl"}},
		OCI:       true, Rules: []engine.Rule{engine.OnlyOCI}, Below: "containerd", Programs: []engine.Program{{Name: binary}, {Of: engine.Runtime}},
		Mechanisms: mechanisms}
}

// bridgeConfig is where nerdctl keeps its default network.
const bridgeConfig = "/etc/cni/net.d/nerdctl-bridge.conflist"

func (*Engine) Detect(ctx context.Context, kit *engine.Kit) engine.Detection {
	d := engine.Detection{Levels: engine.AllUsable(levels), Facts: map[string]string{}}
	for i := range d.Levels[engine.Runtime] {
		l := &d.Levels[engine.Runtime][i]
		if _, err := kit.LookPath(l.Name); err != nil {
			l.Usable, l.Reason, l.Fix = false, "the program "+l.Name+" is not on the PATH", "apt-get install "+l.Name
		}
	}
	for _, factor := range engine.Joined {
		for i := range d.Levels[factor] {
			l := &d.Levels[factor][i]
			if why := notHere(factor, l.Name); why != "" {
				l.Usable, l.Reason = false, why
			}
		}
	}
	if _, err := os.Stat(bridgeConfig); err != nil {
		l := &d.Levels[engine.Network][2]
		l.Usable, l.Reason = false, "nerdctl has not set up its bridge here ("+bridgeConfig+"), and would write that file"
	}
	c, v, err := find(ctx, kit)
	if err != nil {
		d.Reason, d.Fix = engine.Reason(err)
		return d
	}
	d.Usable, d.Where, d.Version = true, c.path, v.Client.Version
	d.Facts = map[string]string{"version": v.Client.Version, "containerd": v.containerd(), "host": c.socket}
	return d
}

// versions is what we read of `nerdctl version`.
type versions struct {
	Client struct{ Version string }
	Server struct {
		Components []struct{ Name, Version string }
	}
}

func (v *versions) containerd() string {
	for _, c := range v.Server.Components {
		if c.Name == "containerd" {
			return c.Version
		}
	}
	return ""
}

// sockets are where containerd may answer: the user's, the usual one, then further places.
func sockets(kit *engine.Kit) []string {
	list := append([]string{"/run/containerd/containerd.sock"}, engine.Places("containerd")...)
	if s := strings.TrimPrefix(kit.Getenv("CONTAINERD_ADDRESS"), "unix://"); s != "" {
		list = append([]string{s}, list...)
	}
	return list
}

// find gives nerdctl on the first containerd that answers it.
func find(ctx context.Context, kit *engine.Kit) (*client, *versions, error) {
	path, err := kit.LookPath(binary)
	if err != nil {
		return nil, nil, &engine.Error{Class: record.Unavailable, Text: "nerdctl is not installed", Fix: fix}
	}
	if !kit.Root {
		return nil, nil, &engine.Error{Class: record.Unavailable, Text: "nerdctl needs root to reach containerd", Fix: "sudo plimsoll …"}
	}
	var tried []string
	for _, socket := range sockets(kit) {
		if _, err := os.Stat(socket); err != nil {
			tried = append(tried, socket)
			continue
		}
		if err := adapter.Asleep(ctx, kit, "containerd", socket); err != nil {
			tried = append(tried, err.Error())
			continue
		}
		c := newClient(kit, path, socket)
		ctx, cancel := context.WithTimeout(ctx, engine.DetectLimit)
		out, err := c.output(ctx, "version", "--format", "json")
		cancel()
		var v versions
		if err == nil && json.Unmarshal(out, &v) == nil && v.containerd() != "" {
			return c, &v, nil
		}
		tried = append(tried, fmt.Sprintf("%s (%v)", socket, err))
	}
	return nil, nil, &engine.Error{Class: record.Unavailable,
		Text: "no containerd answers nerdctl; tried " + strings.Join(tried, ", "), Fix: "systemctl start containerd"}
}
