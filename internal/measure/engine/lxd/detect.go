package lxd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/record"
)

// candidates are the sockets that are tried: where the user's environment
// names one, only that.
func (v variant) candidates(kit *engine.Kit) []string {
	if s := kit.Getenv(v.prefix + "_SOCKET"); s != "" {
		return []string{s}
	}
	if dir := kit.Getenv(v.prefix + "_DIR"); dir != "" {
		return []string{dir + "/unix.socket"}
	}
	return append(slices.Clone(v.sockets), engine.Places(v.name)...)
}

// connect returns the first daemon that answers. It starts none: a socket whose service
// does not run is passed over.
func (v variant) connect(ctx context.Context, kit *engine.Kit) (*daemon, *server, *engine.Error) {
	var tried *engine.Error
	for _, socket := range v.candidates(kit) {
		if _, err := os.Stat(socket); err != nil {
			continue
		}
		if err := adapter.Asleep(ctx, kit, v.title, socket); err != nil {
			if tried == nil {
				tried, _ = errors.AsType[*engine.Error](err)
			}
			continue
		}
		d := v.dial(socket)
		s := &server{}
		err := d.get(ctx, "/1.0", s)
		if err == nil && s.Auth != "trusted" {
			err = os.ErrPermission
		}
		if err == nil {
			return d, s, nil
		}
		d.close()
		if tried == nil {
			tried = d.wrong("asking "+v.title+" for its state", err)
		}
	}
	if tried != nil {
		return nil, nil, tried
	}
	e := &engine.Error{Class: record.Unavailable, Fix: v.install,
		Text: fmt.Sprintf("%s is not installed, or its daemon does not run (looked at %s)", v.title, strings.Join(v.candidates(kit), ", "))}
	return nil, nil, e
}

func (e *Engine) Detect(ctx context.Context, kit *engine.Kit) engine.Detection {
	ctx, cancel := context.WithTimeout(ctx, engine.DetectLimit)
	defer cancel()
	det := engine.Detection{}
	d, s, err := e.connect(ctx, kit)
	if err != nil {
		det.Reason, det.Fix = engine.Reason(err)
		return det
	}
	defer d.close()
	det.Usable, det.Where, det.Version = true, d.socket, s.Environment.ServerVersion
	det.Facts = serverFacts(s)
	det.Levels = engine.LevelsUnless(e.Info().Levels, func(factor, level string) (reason, fix string) {
		return e.impossible(kit, s, factor, level)
	})
	return det
}

// packages are what the daemon's storage drivers need.
var packages = map[string]string{
	"btrfs": "apt-get install btrfs-progs", "lvm": "apt-get install lvm2 thin-provisioning-tools", "zfs": "apt-get install zfsutils-linux",
}

// impossible says why a level can't be had.
func (e *Engine) impossible(kit *engine.Kit, s *server, factor, level string) (reason, fix string) {
	switch {
	case level == engine.DefaultLevel:
	case factor == engine.Without, factor == engine.With:
		return adapter.NotHere(factor, level), ""
	case factor == engine.Storage:
		if _, ok := s.storage(level); !ok {
			var have []string
			for _, d := range s.Environment.Storage {
				have = append(have, d.Name)
			}
			slices.Sort(have)
			return fmt.Sprintf("the daemon supports the storage drivers %s, and not %s", strings.Join(have, ", "), level), packages[level]
		}
	case factor == engine.Network && level == "host":
		return "an unprivileged system container has a network namespace of its own", ""
	case factor == engine.Client && level == byCLI:
		if _, err := kit.LookPath(e.client); err != nil {
			return fmt.Sprintf("the program %s is not on the PATH", e.client), "apt-get install " + e.name + "-client"
		}
	}
	return "", ""
}

// serverFacts are what a daemon says of itself.
func serverFacts(s *server) map[string]string {
	facts := map[string]string{
		"version": s.Environment.ServerVersion, "api-version": s.APIVersion,
		"runtime": "lxc", "runtime-version": s.lxcVersion(), "firewall": s.Environment.Firewall,
	}
	if s.Environment.ServerClustered {
		facts["clustered"] = "yes"
	}
	return facts
}
