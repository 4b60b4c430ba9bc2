package containerdclient

import (
	"context"
	"fmt"
	"time"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/buildconfig"
	"plimsoll/internal/measure/engine/confile"
	"plimsoll/internal/record"
)

// program is containerd's.
const program = "containerd"

// ConfigFile is what a build of containerd may be configured by.
const ConfigFile = "config.toml"

// ConfiguredBy is how it is known that a configuration is in effect.
const ConfiguredBy = "containerd's own `config dump` has each setting; the file, after each trial"

// dumpLimit bounds what containerd takes to print its configuration.
const dumpLimit = 10 * time.Second

const runsOwn = "which is the run's own"

// kept are the keys that keep a private daemon apart from the user's.
var kept = map[string]string{
	"root": runsOwn, "state": runsOwn, "temp": runsOwn, "plugin_dir": runsOwn, "imports": "and only the file that was named is read",
	"grpc.address": runsOwn, "ttrpc.address": runsOwn, "debug.address": runsOwn, "metrics.address": runsOwn, "cgroup.path": runsOwn,
	"proxy_plugins": "which are programs besides containerd that a run doesn't start",
}

// Configured is what the kit's build of containerd is configured by.
func Configured(kit *engine.Kit) (*buildconfig.Configuration, error) {
	c, err := buildconfig.Of(kit, program)
	if err != nil {
		return nil, err
	}
	return c, c.Ours(ConfigFile, kept)
}

// Lay lays what a build is configured by over a configuration of ours.
func Lay(c *buildconfig.Configuration, text string) ([]byte, error) {
	over := c.File(ConfigFile)
	if over == nil {
		return []byte(text), nil
	}
	base, err := confile.Parse(ConfigFile, ConfigFile, []byte(text))
	if err != nil {
		return nil, err
	}
	if is, want := fmt.Sprint(over["version"]), fmt.Sprint(base["version"]); is != want {
		return nil, &engine.Error{Class: record.Unsupported, Text: fmt.Sprintf("the %s is not in the format of this containerd: expected version = %s", ConfigFile, want)}
	}
	off, _ := base["disabled_plugins"].([]any)
	confile.Lay(base, over)
	if more, ok := over["disabled_plugins"].([]any); ok {
		base["disabled_plugins"] = append(off, more...)
	}
	return confile.Write(ConfigFile, base)
}

// Understood says which setting of a build's configuration containerd does not know: it
// passes over those in silence.
func Understood(ctx context.Context, c *buildconfig.Configuration, program, path string) error {
	over := c.File(ConfigFile)
	if over == nil {
		return nil
	}
	out, err := child.Run(ctx, child.Command{Argv: []string{program, "--config", path, "config", "dump"}, Limit: dumpLimit})
	if err != nil {
		return &engine.Error{Class: record.Unavailable, Text: "containerd does not take the " + ConfigFile + ": " + adapter.Words(out.Stderr), Err: err}
	}
	all, err := confile.Parse(ConfigFile, "what containerd config dump prints", out.Stdout)
	if err != nil {
		return err
	}
	wanted := map[string]any{}
	confile.Lay(wanted, over)
	delete(wanted, "disabled_plugins") // they are more
	if s := confile.Lacks(all, wanted); s != nil {
		return &engine.Error{Class: record.Unsupported, Text: fmt.Sprintf("the %s has %s, and this containerd knows no such setting", ConfigFile, s)}
	}
	return nil
}
