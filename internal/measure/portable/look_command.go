package portable

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/moby/moby/api/types/system"

	"plimsoll/internal/measure/engine"
)

// podmanInfo is what of `podman info` is read.
type podmanInfo struct {
	Host struct {
		Arch, OS, Kernel, Hostname, CgroupManager, CgroupVersion string
		OCIRuntime                                               struct{ Name string } `json:"ociRuntime"`
		Security                                                 struct{ Rootless bool }
		CPUs                                                     int
		MemTotal                                                 int64
		Distribution                                             struct{ Distribution, Version string }
	}
	Store   struct{ GraphDriverName string }
	Version struct{ Version string }
}

// askCommand asks Podman's command for what the API would tell: on Linux it needs no
// service, and starts containers without one.
func (f *Found) askCommand(ctx context.Context, s Surroundings) {
	ctx, cancel := context.WithTimeout(ctx, engine.DetectLimit)
	defer cancel()
	p, err := s.command(f.address, "")
	var text string
	if err == nil {
		text, err = p.ask(ctx, "info", "--format", "json")
	}
	var i podmanInfo
	if err == nil {
		err = json.Unmarshal([]byte(text), &i)
	}
	h := i.Host
	if err == nil {
		err = runsOurs(&system.Info{OSType: h.OS, Architecture: h.Arch})
	}
	if err != nil {
		f.NoProgram, _ = engine.Reason(err)
		return
	}
	rootless := "no"
	if h.Security.Rootless {
		rootless = "yes"
	}
	f.Facts = map[string]string{
		"version": i.Version.Version, "storage": i.Store.GraphDriverName, "cgroup": h.CgroupVersion, "cgroup-driver": h.CgroupManager,
		"default-runtime": h.OCIRuntime.Name, "daemon-kernel": h.Kernel, "daemon-os": h.Distribution.Distribution + " " + h.Distribution.Version, "rootless": rootless,
		"daemon-cpus": fmt.Sprint(h.CPUs), "daemon-memory": fmt.Sprint(h.MemTotal), machineFact: nameOf(h.Hostname),
	}
}
