package docker

import (
	"net/netip"
	"strconv"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
)

// What a container has only where it is asked for.
const (
	healthEvery   = 30 * time.Second // the daemon's own default
	healthCommand = "true"
	publishedPort = "9/tcp"
)

// add asks for it by the API.
func (s settings) add(config *container.Config, host *container.HostConfig) {
	if s.adds.Has(engine.Init) {
		with := true
		host.Init = &with
	}
	if s.adds.Has(engine.NoNewPrivileges) {
		host.SecurityOpt = append(host.SecurityOpt, "no-new-privileges")
	}
	if s.adds.Has(engine.Rlimits) {
		host.Ulimits = []*container.Ulimit{{Name: "nofile", Soft: engine.RlimitFiles, Hard: engine.RlimitFiles}, {Name: "core"}}
	}
	if s.adds.Has(engine.OOMScore) {
		host.OomScoreAdj = engine.ScoreAdded
	}
	if s.adds.Has(engine.HealthCheck) {
		config.Healthcheck = &container.HealthConfig{Test: []string{"CMD-SHELL", healthCommand}, Interval: healthEvery}
	}
	if s.adds.Has(engine.PublishedPort) {
		port := network.MustParsePort(publishedPort)
		config.ExposedPorts = network.PortSet{port: {}}
		host.PortBindings = network.PortMap{port: {{HostIP: netip.AddrFrom4([4]byte{127, 0, 0, 1})}}}
	}
}

// addArgs ask for the same on the command line.
var addArgs = map[string][]string{
	engine.Terminal:        {"--tty"},
	engine.NoNewPrivileges: {"--security-opt", "no-new-privileges"},
	engine.Rlimits:         {"--ulimit", "nofile=" + strconv.Itoa(engine.RlimitFiles), "--ulimit", "core=0"},
	engine.OOMScore:        {"--oom-score-adj", strconv.Itoa(engine.ScoreAdded)},
	engine.HealthCheck:     {"--health-cmd", healthCommand, "--health-interval", healthEvery.String()},
	engine.PublishedPort:   {"--publish", "127.0.0.1::" + publishedPort},
}

// judgeAdded holds what was to be added against the daemon's word of the container:
// what can be seen from inside is proved there.
func (e *evidence) judgeAdded(spec engine.Spec) error {
	ports := 0
	if e.live.NetworkSettings != nil {
		for _, bindings := range e.live.NetworkSettings.Ports {
			ports += len(bindings)
		}
	}
	c := e.live.Config
	switch {
	case spec.Adds(engine.HealthCheck) != (c != nil && c.Healthcheck != nil && len(c.Healthcheck.Test) > 0):
		return adapter.Wrong("health check: asked for %v, and the container's is otherwise", spec.Adds(engine.HealthCheck))
	case spec.Adds(engine.PublishedPort) && len(e.live.HostConfig.PortBindings) == 0:
		return adapter.Wrong("asked for a published port, and the container has %d", ports)
	}
	return nil
}
