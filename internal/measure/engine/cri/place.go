package cri

import (
	"context"
	"encoding/json"

	v1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plimsoll/internal/measure/engine"
)

// Place asks the server for the pod's address and the container's process.
func (l *life) Place(ctx context.Context) (engine.Place, error) {
	env := l.env
	p := engine.Place{Address: "127.0.0.1"}
	if !env.settings.HostNet {
		r, err := l.s.runtime.PodSandboxStatus(ctx, &v1.PodSandboxStatusRequest{PodSandboxId: l.pod})
		if err != nil {
			return p, l.s.wrong("asking for the pod's address", err)
		}
		switch p.Address = r.GetStatus().GetNetwork().GetIp(); {
		case p.Address == "":
			p.NoAddress = "the CRI server gave the pod no address"
		case env.unreached != "":
			p.Address, p.NoAddress = "", env.unreached
		}
	}
	r, err := l.s.runtime.ContainerStatus(ctx, &v1.ContainerStatusRequest{ContainerId: l.ctr, Verbose: true})
	if err != nil {
		return p, l.s.wrong("asking for the container's process", err)
	}
	var info struct{ Pid int }
	if json.Unmarshal([]byte(r.GetInfo()["info"]), &info) == nil && env.Fact("kernel") == "host" {
		p.PID = info.Pid
	}
	return p, nil
}
