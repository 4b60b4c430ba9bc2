package lxd

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/record"
)

// prefix is how everything of ours in a daemon begins.
const prefix = "plimsoll-"

func projectName(runID string) string { return prefix + runID }

// labelKey is that of everything of ours: the daemon leaves keys that begin so to
// its users.
const labelKey = "user." + engine.Label

// label is what is set on something when it is made.
func (d *daemon) label() map[string]string { return map[string]string{labelKey: d.run} }

// initCommand is PID 1 of every container.
const initCommand = image.ProbePath + " init"

// createProject makes the run's project, with images, profiles and volumes of
// its own. Networks stay the user's.
func (d *daemon) createProject(ctx context.Context, runID string) error {
	err := d.call(ctx, http.MethodPost, "/1.0/projects", map[string]any{
		"name": projectName(runID), "description": "made by plimsoll, run " + runID,
		"config": map[string]string{
			"features.images": "true", "features.profiles": "true", "features.storage.volumes": "true",
			labelKey: runID,
		},
	})
	if err != nil {
		return d.wrong("making the project "+projectName(runID), err)
	}
	return nil
}

// device is a device of a profile or an instance.
type device = map[string]string

// profile is what is read of a profile.
type profile struct {
	Config  map[string]string
	Devices map[string]device
}

// defaults reads the user's default profile: what a container gets that names
// nothing.
func (d *daemon) defaults(ctx context.Context) (profile, error) {
	var p profile
	if err := d.within("").get(ctx, "/1.0/profiles/default", &p); err != nil {
		return p, d.wrong("reading the default profile", err)
	}
	return p, nil
}

// profileName is the profile of an environment. A spec's id may have anything
// in it.
func profileName(spec engine.Spec) string {
	return strings.TrimPrefix(adapter.Name("", spec.ID), "plimsoll--")
}

// profileFor makes an environment's profile from what was asked for and, for
// what was not, from the user's own. The names of its networks are the second
// result.
func profileFor(spec engine.Spec, runID, pool string, user profile) (p map[string]any, networks []string) {
	devices := map[string]device{"root": {"type": "disk", "path": "/", "pool": pool}}
	if spec.Level(engine.Network) == engine.DefaultLevel {
		for name, dev := range user.Devices {
			if dev["type"] != "nic" {
				continue
			}
			devices[name] = dev
			n := cmp.Or(dev["network"], strings.TrimSpace(dev["nictype"]+" "+dev["parent"]))
			networks = append(networks, n)
		}
	}
	config := map[string]string{
		labelKey:  runID,
		"raw.lxc": raw(spec),
	}
	if spec.Level(engine.Seccomp) == "off" {
		config["security.syscalls.deny_default"] = "false"
	}
	if l := spec.Level(engine.Privileged); l != engine.DefaultLevel {
		config["security.privileged"] = strconv.FormatBool(l == "yes")
	}
	if c := spec.Limits.CPUs; c > 0 {
		// A share of time, as with the other engines; limits.cpu would pin to whole processors.
		config["limits.cpu.allowance"] = fmt.Sprintf("%dms/100ms", int(c*100+0.5))
	}
	if m := spec.Limits.MemoryBytes; m > 0 {
		config["limits.memory"] = bytesOf(m)
	}
	return map[string]any{"name": profileName(spec), "config": config, "devices": devices}, networks
}

// pool is a storage pool.
type pool struct {
	Name, Driver string
	Config       map[string]string
}

// choosePool finds the pool for a level of storage: the user's own where
// there is one with that driver, else one of ours that is still to be made.
// By default it is the one that the user's containers are in.
func (d *daemon) choosePool(ctx context.Context, level, runID string, user profile) (p pool, ours bool, err error) {
	pools, err := listed[pool](ctx, d, "/1.0/storage-pools")
	if err != nil {
		return p, false, d.wrong("listing the storage pools", err)
	}
	if level == engine.DefaultLevel {
		for _, dev := range user.Devices {
			for _, p := range pools {
				if dev["type"] == "disk" && dev["path"] == "/" && dev["pool"] == p.Name {
					return p, false, nil
				}
			}
		}
	}
	for _, p := range pools {
		// One that a run has made goes with that run.
		if p.Config[labelKey] == "" && (p.Driver == level || level == engine.DefaultLevel) {
			return p, false, nil
		}
	}
	if level == engine.DefaultLevel {
		level = "dir"
	}
	return pool{Name: projectName(runID) + "-" + level, Driver: level, Config: d.label()}, true, nil
}

// poolSize bounds the file behind a pool of ours; it is sparse.
const poolSize = "4GiB"

func (d *daemon) createPool(ctx context.Context, p pool) error {
	config := d.label()
	if p.Driver != "dir" {
		config["size"] = poolSize
	}
	err := d.call(ctx, http.MethodPost, "/1.0/storage-pools", map[string]any{"name": p.Name, "driver": p.Driver, "config": config})
	if err != nil {
		e := d.wrong(fmt.Sprintf("making a storage pool with the driver %s", p.Driver), err)
		if e.Class == record.EngineError {
			e.Class = record.Unavailable
		}
		return e
	}
	return nil
}
