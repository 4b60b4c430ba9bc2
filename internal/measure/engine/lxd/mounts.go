package lxd

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// refuse says what of a task these engines don't do.
func refuse(task engine.Task) *record.Failure {
	if task.Beside != nil {
		return &record.Failure{Class: record.Unsupported, Text: "a system container has a network namespace of its own and shares none"}
	}
	return nil
}

// config is the container's own: our label, and what it needs of liblxc. Where
// that says raw.lxc it stands in place of the profile's, and so says that again.
// A tmpfs is mounted by liblxc, since daemons have a device for it only from
// Incus 6.6 on.
func (l *life) config() map[string]string {
	config := l.env.d.label()
	if l.address == "" && len(l.Task.Mounts) == 0 {
		return config
	}
	var lines []string
	if l.address != "" {
		lines = append(lines, l.env.nic.configure(l.address)...)
	}
	for _, m := range l.Task.Mounts {
		if m.Kind != engine.Tmpfs {
			continue
		}
		options := "rw,nosuid,nodev,create=dir"
		if m.SizeBytes > 0 {
			options += ",size=" + strconv.FormatInt(m.SizeBytes, 10)
		}
		lines = append(lines, fmt.Sprintf("lxc.mount.entry = tmpfs %s tmpfs %s 0 0", strings.TrimPrefix(m.Target, "/"), options))
	}
	config["raw.lxc"] = raw(l.env.spec, lines...)
	return config
}

// devices are the container's own disks, and the port that it publishes.
func (l *life) devices() map[string]device {
	all := map[string]device{}
	volumes := l.volumes
	for i, m := range l.Task.Mounts {
		name := "mount" + strconv.Itoa(i)
		switch m.Kind {
		case engine.Bind:
			all[name] = device{"type": "disk", "source": m.Source, "path": m.Target}
			if l.shift {
				all[name]["shift"] = "true"
			}
		case engine.Volume:
			all[name] = device{"type": "disk", "pool": l.env.pool.Name, "source": volumes[0], "path": m.Target}
			volumes = volumes[1:]
		}
	}
	if p := l.Task.Publish; p != nil {
		all["published"] = device{"type": "proxy", "listen": "tcp:" + p.HostAddress(), "connect": "tcp:127.0.0.1:" + strconv.Itoa(p.Inside)}
	}
	return all
}

// makeVolumes makes a custom volume for each that is asked for.
func (l *life) makeVolumes(ctx context.Context) error {
	for i, m := range l.Task.Mounts {
		if m.Kind != engine.Volume {
			continue
		}
		name := volumeName(l.Task, i)
		l.volumes = append(l.volumes, name)
		err := l.step(ctx, "making the volume "+name, "", "", http.MethodPost, volumesOf(l.env.pool.Name), map[string]any{"name": name, "config": l.env.d.label()})
		if err != nil {
			return err
		}
		l.Step("volume", stamp.Now())
	}
	return nil
}

// volumeName is of the volume that is a task's mount.
func volumeName(task engine.Task, mount int) string { return fmt.Sprintf("%s-%d", task.Name, mount) }

func volumesOf(pool string) string { return "/1.0/storage-pools/" + pool + "/volumes/custom" }

func (d *daemon) removeVolumes(ctx context.Context, pool string, names []string) error {
	for _, n := range names {
		if err := d.removeOurs(ctx, "the volume "+n, volumesOf(pool)+"/"+n); err != nil {
			return err
		}
	}
	return nil
}
