package containerd

import (
	"context"
	"fmt"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/confile"
	"plimsoll/internal/measure/engine/given"
	"plimsoll/internal/record"
)

// configFile is what a build of containerd may be configured by.
const configFile = "config.toml"

// configuredBy is how it is known that a configuration is in effect.
const configuredBy = "containerd's own `config dump` has each setting; the file, after each trial"

const runsOwn = "which is the run's own"

// kept are the keys that keep a private daemon apart from the user's.
var kept = map[string]string{
	"root": runsOwn, "state": runsOwn, "temp": runsOwn, "plugin_dir": runsOwn, "imports": "and only the file that was named is read",
	"grpc.address": runsOwn, "ttrpc.address": runsOwn, "debug.address": runsOwn, "metrics.address": runsOwn, "cgroup.path": runsOwn,
	"proxy_plugins": "which are programs beside containerd that a run doesn't start",
}

// configured is what the kit's build of containerd is configured by.
func configured(kit *engine.Kit) (*given.Configuration, error) {
	c, err := given.Of(kit, daemonProgram)
	if err != nil {
		return nil, err
	}
	return c, c.Ours(configFile, kept)
}

// lay lays what a build is configured by over a configuration of ours.
func lay(c *given.Configuration, text string) ([]byte, error) {
	over := c.File(configFile)
	if over == nil {
		return []byte(text), nil
	}
	base, err := confile.Parse(configFile, configFile, []byte(text))
	if err != nil {
		return nil, err
	}
	if is, want := fmt.Sprint(over["version"]), fmt.Sprint(base["version"]); is != want {
		return nil, &engine.Error{Class: record.Unsupported, Text: fmt.Sprintf("the %s is not in the format of this containerd: expected version = %s", configFile, want)}
	}
	off, _ := base["disabled_plugins"].([]any)
	confile.Lay(base, over)
	if more, ok := over["disabled_plugins"].([]any); ok {
		base["disabled_plugins"] = append(off, more...)
	}
	return confile.Write(configFile, base)
}

// understood says which setting of a build's configuration containerd does not know: it
// passes over those in silence.
func understood(ctx context.Context, c *given.Configuration, program, path string) error {
	over := c.File(configFile)
	if over == nil {
		return nil
	}
	out, err := tool(ctx, program, "--config", path, "config", "dump")
	if err != nil {
		return &engine.Error{Class: record.Unavailable, Text: "containerd does not take the " + configFile, Err: err}
	}
	all, err := confile.Parse(configFile, "what containerd config dump prints", []byte(out))
	if err != nil {
		return err
	}
	wanted := map[string]any{}
	confile.Lay(wanted, over)
	delete(wanted, "disabled_plugins") // they are more
	if s := confile.Lacks(all, wanted); s != nil {
		return &engine.Error{Class: record.Unsupported, Text: fmt.Sprintf("the %s has %s, and this containerd knows no such setting", configFile, s)}
	}
	return nil
}

// Configured is documented in engine.Configured.
func (env *environment) Configured() error {
	if env.d.own == nil {
		return nil
	}
	return env.d.given.Holds(env.d.own.PID)
}
