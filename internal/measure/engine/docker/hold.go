package docker

import (
	"context"

	"github.com/moby/moby/client"

	"plimsoll/internal/measure/engine"
)

// placeOf asks the daemon where a container is. It is not measured.
func (env *environment) placeOf(ctx context.Context, task engine.Task) engine.Place {
	var p engine.Place
	res, err := env.d.ContainerInspect(ctx, task.Name, client.ContainerInspectOptions{})
	if err != nil {
		p.NoAddress = env.d.wrong("looking for the container's address", err).Error()
		return p
	}
	if s := res.Container.State; s != nil {
		p.PID = s.Pid
	}
	// Root's own daemon has its networks in the host's namespace; another's are
	// in one of RootlessKit's or of ours.
	p.Inner = env.d.own != nil || env.Fact("rootless") == "yes"
	switch {
	case task.Beside != nil:
		other := task.Beside.Place()
		p.Address, p.NoAddress, p.Inner = other.Address, other.NoAddress, other.Inner
		return p
	case env.settings.network == "host":
		p.Address = "127.0.0.1"
		return p
	case env.settings.network == "none":
		p.NoAddress = "a container with the network none has loopback only"
	case env.unreached != "":
		p.NoAddress = env.unreached
	case res.Container.NetworkSettings != nil:
		for _, n := range res.Container.NetworkSettings.Networks {
			if n.IPAddress.Is4() {
				p.Address = n.IPAddress.String()
				return p
			}
		}
		fallthrough
	default:
		p.NoAddress = "the daemon gave the container no IPv4 address"
	}
	p.Inner = false
	return p
}
