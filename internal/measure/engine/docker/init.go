package docker

import (
	"fmt"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/buildconfig"
	"plimsoll/internal/measure/engine/confile"
	"plimsoll/internal/record"
)

// initProgram is what dockerd starts as PID 1 of a container that is to have an init: the
// runtime executes it in its own place, under this name whatever the file is called.
const initProgram = "docker-init"

// initKey is how dockerd is told where it lies; without it some versions look in
// directories of their own before the PATH.
// https://docs.docker.com/reference/cli/dockerd/#daemon-configuration-file
const initKey = "init-path"

// initPath is that of the kit's build of docker-init; empty where there is none. The error
// is for a configuration that names another one.
func initPath(kit *engine.Kit, c *buildconfig.Configuration) (string, error) {
	path := kit.Built(initProgram)
	if other, _ := confile.At(c.File(configFile), initKey).(string); path != "" && other != "" && other != path {
		return "", &engine.Error{Class: record.Unsupported,
			Text: fmt.Sprintf("the %s has the %s %s, and %s is %s", configFile, initKey, other, kit.BuildOf(initProgram).Name(), path)}
	}
	return path, nil
}
