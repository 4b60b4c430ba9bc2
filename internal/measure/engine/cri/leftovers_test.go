package cri

import (
	"context"
	"slices"
	"testing"

	"github.com/containerd/containerd/v2/client"
	v1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/containerdclient"
)

// pod makes a pod without a container, as somebody might.
func pod(t *testing.T, env *environment, name string, change func(*v1.PodSandboxConfig)) (id string) {
	t.Helper()
	config := env.settings.pod(name)
	config.LogDirectory = t.TempDir()
	change(config)
	rt := env.s.runtime
	r, err := rt.RunPodSandbox(t.Context(), &v1.RunPodSandboxRequest{Config: config})
	require.NoError(t, err)
	id = r.GetPodSandboxId()
	t.Cleanup(func() {
		ctx := context.Background()
		_, _ = rt.StopPodSandbox(ctx, &v1.StopPodSandboxRequest{PodSandboxId: id})
		if _, err := rt.RemovePodSandbox(ctx, &v1.RemovePodSandboxRequest{PodSandboxId: id}); err != nil {
			t.Error(err)
		}
	})
	return id
}

// TestLeftovers: what a killed run left is found by its ledger, at the server
// where it was made, and removed; pods of a user's that look just like it stay.
func TestLeftovers(t *testing.T) {
	everywhere(t, func(t *testing.T, kit *engine.Kit, env *environment) {
		task := shell(kit, "trap '' TERM; echo up; while true; do /bin/busybox sleep 1; done")
		if _, err := env.Hold(t.Context(), task); err != nil {
			t.Fatal(err)
		}
		taken := adapter.Name(kit.RunID, "taken")
		require.NoError(t, env.AdmitHeld(t.Context(), engine.Task{Name: taken}))
		users := []string{
			pod(t, env, taken, func(c *v1.PodSandboxConfig) { c.Labels[engine.Label] = "another0" }),
			pod(t, env, adapter.Name(kit.RunID, "like"), func(*v1.PodSandboxConfig) {}),
			pod(t, env, task.Name, func(c *v1.PodSandboxConfig) { c.Metadata.Namespace, c.Metadata.Uid = "default", "user" }),
		}

		after := *kit
		after.Getenv = func(name string) string {
			if name == variable {
				return "unix:///nowhere/cri.sock"
			}
			return kit.Getenv(name)
		}
		removed, kept := engine.Sweep(t.Context(), &after, New()) // as the next process has it
		if len(removed) != 2 || removed[0].Name != task.Name || removed[1].Kind != engine.KindImage || len(kept) > 0 {
			t.Errorf("removed %v, kept %v, want the pod and then its image", removed, kept)
		}
		if left := kit.Ledger.Left(); len(left) > 0 {
			t.Errorf("still in the ledger: %v", left)
		}
		r, err := env.s.runtime.ListPodSandbox(t.Context(), &v1.ListPodSandboxRequest{})
		require.NoError(t, err)
		for _, id := range users {
			if !slices.ContainsFunc(r.GetItems(), func(p *v1.PodSandbox) bool {
				return p.GetId() == id && p.GetState() == v1.PodSandboxState_SANDBOX_READY
			}) {
				t.Errorf("the user's pod %s is gone, or was stopped", id)
			}
		}
	})
}

// TestUsersTag: an image that a user has given another name keeps it.
func TestUsersTag(t *testing.T) {
	everywhere(t, func(t *testing.T, kit *engine.Kit, env *environment) {
		if endpointOf(env.s.version.GetRuntimeName()) != containerd {
			t.Skip("the interface has no call that gives a name; here it is given by containerd's API")
		}
		ref := env.settings.image.GetUserSpecifiedImage()
		users := "localhost/users/plimsoll:" + kit.RunID + "x"
		c, err := containerdclient.Dial(t.Context(), env.s.path, askLimit, client.WithDefaultNamespace(kubernetes))
		require.NoError(t, err)
		defer c.Close()
		i, err := c.ImageService().Get(t.Context(), ref)
		require.NoError(t, err)
		i.Name = users
		if _, err := c.ImageService().Create(t.Context(), i); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if _, err := env.s.image.RemoveImage(context.Background(), &v1.RemoveImageRequest{Image: &v1.ImageSpec{Image: users}}); err != nil {
				t.Error(err)
			}
		})
		for range 100 { // the CRI is told by an event
			if s, err := env.s.lookUp(t.Context(), users); err == nil && len(s.GetRepoTags()) == 2 {
				break
			}
		}
		if err := env.s.removeImage(t.Context(), ref); err != nil {
			t.Error(err)
		}
		if _, err := c.ImageService().Get(t.Context(), users); err != nil {
			t.Errorf("the user's name is gone: %v", err)
		}
		if _, err := c.ImageService().Get(t.Context(), ref); err == nil {
			t.Errorf("ours is there still")
		}
	})
}
