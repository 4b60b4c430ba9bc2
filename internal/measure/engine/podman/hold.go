package podman

import (
	"cmp"
	"context"
	"net/http"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/apirun"
	"plimsoll/internal/record"
)

func (env *environment) Hold(ctx context.Context, task engine.Task) (engine.Held, error) {
	if f := env.impossible(task); f != nil {
		return nil, apirun.Refusal(task, f)
	}
	if env.byAPI {
		return env.api.Hold(ctx, task)
	}
	return env.holdCLI(ctx, task)
}

func (env *environment) Ready(ctx context.Context) *record.Failure { return env.api.Ready(ctx) }

// live is what is read of a container that runs.
type live struct {
	State           struct{ Pid int }
	NetworkSettings struct {
		IPAddress string
		Networks  map[string]struct{ IPAddress string }
	}
	HostConfig struct{ NetworkMode string }
}

// placeOf asks podman where a container is. It is not measured.
func (env *environment) placeOf(ctx context.Context, task engine.Task) (p engine.Place) {
	var seen live
	var err error
	if env.byAPI {
		err = env.rest.call(ctx, http.MethodGet, "/containers/"+task.Name+"/json", nil, nil, &seen)
	} else {
		var list []live
		if err = env.p.read(ctx, &list, "inspect", "--type", "container", task.Name); err == nil && len(list) == 1 {
			seen = list[0]
		}
	}
	if err != nil {
		p.NoAddress = "podman does not tell of the container: " + err.Error()
		return p
	}
	p.PID = seen.State.Pid
	if task.Beside != nil {
		other := task.Beside.Place()
		p.Address, p.NoAddress, p.Inner = other.Address, other.NoAddress, other.Inner
		return p
	}
	for _, n := range seen.NetworkSettings.Networks {
		if p.Address = n.IPAddress; p.Address != "" {
			break
		}
	}
	p.Address = cmp.Or(p.Address, seen.NetworkSettings.IPAddress)
	switch mode := seen.HostConfig.NetworkMode; {
	case mode == "host":
		p.Address = "127.0.0.1"
	case p.Address != "" && env.unreached != "":
		p.Address, p.NoAddress = "", env.unreached
	case p.Address != "":
		p.Inner = env.p.user != nil // all of the user's bridges lie in one namespace of podman's
	case mode == "none":
		p.NoAddress = "a container with the network none has loopback only"
	case mode == "slirp4netns" || mode == "pasta":
		p.NoAddress = "with " + mode + " each container has a network of its own, which no other reaches (network: bridge has addresses)"
	default:
		p.NoAddress = "podman gave the container no IPv4 address on the network " + mode
	}
	return p
}
