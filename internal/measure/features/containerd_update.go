package features

import (
	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/pkg/namespaces"
	specs "github.com/opencontainers/runtime-spec/specs-go"

	"plimsoll/internal/measure/engine/cgroup"
	adapter "plimsoll/internal/measure/engine/containerd"
)

// updatesTask changes a limit by containerd's API, since ctr has no command
// for it.
func updatesTask(t *try) {
	name := t.running()
	pid := t.pid(name)
	before := cgroup.InForce(pid).MemoryBytes
	ctx := namespaces.WithNamespace(t.ctx, adapter.Namespace(t.b.kit.RunID))
	c, err := client.New(t.b.where)
	t.need("connecting to containerd", err)
	defer func() { _ = c.Close() }() // what was to be done is done
	container, err := c.LoadContainer(ctx, name)
	t.need("finding the container by the API", err)
	task, err := container.Task(ctx, nil)
	t.need("finding the container's task by the API", err)
	limit := int64(changedLimit)
	err = task.Update(ctx, client.WithResources(&specs.LinuxResources{Memory: &specs.LinuxMemory{Limit: &limit}}))
	t.observe("containerd's API, Tasks.Update of %s with a memory limit of %d: %v", name, limit, err)
	if err != nil {
		t.no("refused: %v", err)
	}
	t.limited(pid, before)
	t.yes("by its API; ctr has no command for it")
}
