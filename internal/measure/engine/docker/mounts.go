package docker

import (
	"strconv"

	"github.com/moby/moby/api/types/mount"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/record"
)

// impossible says what of a task this environment can't do.
func (env *environment) impossible(task engine.Task) *record.Failure {
	return adapter.Impossible(env.d.flavour.name, task, &env.FactSheet)
}

// networkOf is the network mode of a task's container.
func (s settings) networkOf(task engine.Task) string { return adapter.NetworkOf(task, s.network) }

// containerLabel is the key of the label that ties a volume to its container.
const containerLabel = "io.plimsoll.container"

// mounts are a task's for the API. A volume has no name, so that it goes with
// its container, and takes nothing over from the image.
func (s settings) mounts(task engine.Task) []mount.Mount {
	var list []mount.Mount
	for _, m := range task.Mounts {
		switch m.Kind {
		case engine.Bind:
			list = append(list, mount.Mount{Type: mount.TypeBind, Source: m.Source, Target: m.Target})
		case engine.Volume:
			list = append(list, mount.Mount{Type: mount.TypeVolume, Target: m.Target,
				VolumeOptions: &mount.VolumeOptions{NoCopy: true, Labels: map[string]string{engine.Label: s.runID, containerLabel: task.Name}}})
		case engine.Tmpfs:
			list = append(list, mount.Mount{Type: mount.TypeTmpfs, Target: m.Target,
				TmpfsOptions: &mount.TmpfsOptions{SizeBytes: m.SizeBytes}})
		}
	}
	return list
}

// mountArgs are the same for the command line.
func (s settings) mountArgs(task engine.Task) []string {
	var args []string
	for _, m := range task.Mounts {
		fields := []string{"type=" + string(m.Kind)}
		switch m.Kind {
		case engine.Bind:
			fields = append(fields, "source="+m.Source)
		case engine.Volume:
			fields = append(fields, "volume-nocopy=true", "volume-label="+engine.Label+"="+s.runID, "volume-label="+containerLabel+"="+task.Name)
		case engine.Tmpfs:
			if m.SizeBytes > 0 {
				fields = append(fields, "tmpfs-size="+strconv.FormatInt(m.SizeBytes, 10))
			}
		}
		args = append(args, "--mount", adapter.CSV(append(fields, "target="+m.Target)))
	}
	return args
}
