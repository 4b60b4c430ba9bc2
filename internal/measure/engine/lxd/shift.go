package lxd

import (
	"context"
	"net/http"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// tryShift finds out, before the first trial that mounts a directory of the
// host, whether the daemon mounts that with ids mapped: kernel, file system and
// the daemon's own tests decide, and only a container that starts tells. Where
// it does not, the directory is mounted as it is, and everybody must be allowed
// to write there.
func (env *environment) tryShift(ctx context.Context, task engine.Task) *record.Failure {
	at := ""
	for _, m := range task.Mounts {
		if m.Kind == engine.Bind {
			at = m.Source
		}
	}
	env.shifting.Lock()
	defer env.shifting.Unlock()
	if at == "" || env.tried || !env.shift {
		return nil
	}
	env.tried = true
	name := task.Name + "-try"
	try := engine.Task{Name: name, Checked: true}
	if _, err := env.Admit(ctx, try); err != nil {
		return &record.Failure{Class: record.HarnessError, Text: err.Error()}
	}
	err := env.d.call(ctx, http.MethodPost, "/1.0/instances", map[string]any{
		"name": name, "type": "container", "profiles": []string{profileName(env.spec)},
		"config":  env.d.label(),
		"source":  map[string]string{"type": "image", "fingerprint": env.image},
		"devices": map[string]device{"mount0": {"type": "disk", "source": at, "path": "/mnt", "shift": "true"}},
	})
	if err == nil {
		err = env.d.call(ctx, http.MethodPut, "/1.0/instances/"+name+"/state", map[string]any{"action": "start", "timeout": -1})
	}
	var res engine.Result
	if env.Clear(context.WithoutCancel(ctx), try, &res); res.Failure != nil {
		return res.Failure
	}
	if err := env.Strike(name); err != nil {
		return &record.Failure{Class: record.HarnessError, Text: err.Error()}
	}
	switch {
	case err == nil:
		env.mounted("ids mapped (shift)")
		return nil
	case strings.Contains(err.Error(), "idmapping abilities"):
		env.shift = false
		env.mounted("ids as they are: " + err.Error())
		return nil
	}
	return env.d.failure("trying to mount "+at, err)
}

// mounted says how directories of the host are mounted.
func (env *environment) mounted(how string) {
	env.AddFacts(map[string]string{"bind": how})
}
