package docker

import (
	"fmt"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/buildconfig"
	"plimsoll/internal/measure/engine/confile"
	"plimsoll/internal/record"
)

// configFile is what a build of dockerd may be configured by.
const configFile = "daemon.json"

// configuredBy is how it is known that a configuration is in effect. An unknown key ends
// dockerd: https://docs.docker.com/reference/cli/dockerd/#daemon-configuration-file
const configuredBy = "dockerd was started with it and refuses what it doesn't know; the file, after each trial"

// kept are the keys of a daemon.json that keep a private daemon apart, or are factors.
var kept = map[string]string{
	"data-root": "which is the run's own", "graph": "which is the run's own", "exec-root": "which is the run's own",
	"pidfile": "which is the run's own", "hosts": "which is the run's own", "containerd": "and a private dockerd starts its own",
	"cgroup-parent": "by which the run finds its control groups", "live-restore": "and a private dockerd ends with its containers",
	"group": "which is the run's own", "tls": "which is the run's own", "tlsverify": "which is the run's own",
	"swarm-default-advertise-addr": "and a private dockerd is in no swarm",
	"default-runtime":              "which is the factor runtime: name a level of it in the study",
}

// given is what the kit's build of the daemon is configured by.
func (e *Engine) given(kit *engine.Kit) (*buildconfig.Configuration, error) {
	c, err := buildconfig.Of(kit, e.daemon)
	if err != nil {
		return nil, err
	}
	if err := c.Ours(configFile, kept); err != nil {
		return nil, err
	}
	options, _ := confile.At(c.File(configFile), "exec-opts").([]any)
	for _, o := range options {
		if text, _ := o.(string); strings.HasPrefix(text, "native.cgroupdriver=") {
			return nil, &engine.Error{Class: record.Unsupported, Text: "the " + configFile + " has exec-opts " + text + ", which is the factor cgroup-driver: name a level of it in the study"}
		}
	}
	return c, nil
}

// overlay lays what the build is configured by over the run's own. Of the options of
// execution those of both are there.
func (o *ownDaemon) overlay(config map[string]any) {
	options, _ := config["exec-opts"].([]string)
	confile.Lay(config, o.given.File(configFile))
	if more, ok := config["exec-opts"].([]any); ok {
		for _, m := range more {
			options = append(options, fmt.Sprint(m))
		}
		config["exec-opts"] = options
	}
}

// storageOf is the storage driver that the level or a configuration names; empty where
// neither does. The error is for an environment of another one than the configuration.
func storageOf(c *buildconfig.Configuration, level string) (string, error) {
	driver, _ := confile.At(c.File(configFile), "storage-driver").(string)
	if snapshots, _ := confile.At(c.File(configFile), "features", "containerd-snapshotter").(bool); snapshots && driver == "" {
		driver = "overlayfs"
	}
	if driver != "" && level != engine.DefaultLevel && level != driver {
		return "", &engine.Error{Class: record.Unsupported, Text: "the " + configFile + " has the storage driver " + driver + ", and the environment has " + level}
	}
	if level != engine.DefaultLevel {
		return level, nil
	}
	return driver, nil
}

// logs is the log driver that a configuration names, which the containers then have;
// empty where it names none.
func (o *ownDaemon) logs(spec engine.Spec) (string, error) {
	if o == nil || o.given == nil {
		return "", nil
	}
	driver, _ := confile.At(o.given.File(configFile), "log-driver").(string)
	adds := spec.Extra()
	if driver != "" && (adds.Has(engine.LogFile) || adds.Has(engine.Journal)) {
		return "", &engine.Error{Class: record.Unsupported, Text: "the " + configFile + " has the log driver " + driver + ", and the environment asks for another one"}
	}
	return driver, nil
}

func (env *environment) Configured() error {
	if env.d.own == nil {
		return nil
	}
	return env.d.own.given.Holds(env.d.own.PID)
}
