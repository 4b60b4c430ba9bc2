package docker

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
)

// TestCanary: two containers on the default network of the user's Docker keep
// reaching each other while private daemons come and go, and the user's
// daemon, its containers, images and networks stay as they are.
func TestCanary(t *testing.T) {
	if testing.Short() {
		t.Skip("private daemons take seconds to start; left out with -short")
	}
	e, kit := New(), enginetest.Kit(t)
	if !kit.Root {
		t.Skip("a private dockerd needs root")
	}
	d, err := e.user(t.Context(), kit)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	if err := d.ping(t.Context()); err != nil {
		t.Skip(err)
	}
	tag, release, err := e.provide(t.Context(), d, kit, "busybox")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { // after the canaries, which use it
		if err := release(context.Background()); err != nil {
			t.Error(err)
		}
	})
	server := canary(t, d, kit, tag, "server", "mkdir /tmp/w && echo chirp >/tmp/w/index.html && httpd -f -p 8000 -h /tmp/w")
	talker := canary(t, d, kit, tag, "talker", "while :; do sleep 1; done")
	ip := server.NetworkSettings.Networks["bridge"].IPAddress.String()
	chirps := func(when string) {
		t.Helper()
		var out []byte
		for range 20 { // httpd takes a moment to listen, the first time
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			out, err = exec.CommandContext(ctx, "docker", "-H", d.host, "exec", talker.ID, "/bin/busybox", "sh", "-c",
				`printf 'GET / HTTP/1.0\r\n\r\n' | busybox nc -w 15 `+ip+` 8000`).CombinedOutput()
			cancel()
			if err == nil || when != "before" {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		if !strings.HasSuffix(strings.TrimSpace(string(out)), "chirp") {
			t.Fatalf("%s: the neighbour at %s does not answer: %v, %s", when, ip, err, out)
		}
	}
	chirps("before")
	before := stateOf(t, d)
	for _, driver := range []string{"vfs", "btrfs"} {
		env, err := e.Open(t.Context(), kit, engine.Spec{ID: "canary", Levels: map[string]string{engine.Storage: driver}})
		if err != nil {
			t.Errorf("%s: %v", driver, err)
			continue
		}
		chirps("while a private daemon with " + driver + " runs")
		if err := env.Close(t.Context()); err != nil {
			t.Error(err)
		}
		chirps("after the daemon with " + driver)
	}
	if after := stateOf(t, d); !slices.Equal(before, after) {
		t.Errorf("the user's Docker has changed:\nbefore %q\nafter  %q", before, after)
	}
	nothing := *kit
	nothing.RunID += "-none" // the canaries bear the run's id
	nothingOf(t, &nothing)
}

// canary starts a container on the default network.
func canary(t *testing.T, d *daemon, kit *engine.Kit, tag, name, script string) container.InspectResponse {
	t.Helper()
	s := settings{image: tag, runID: kit.RunID}
	o := s.options(engine.Task{Name: "plimsoll-" + kit.RunID + "-" + name, Argv: []string{"/bin/busybox", "sh", "-c", script}})
	t.Cleanup(func() {
		if _, err := d.removeContainer(context.Background(), o.Name); err != nil {
			t.Error(err)
		}
	})
	made, err := d.ContainerCreate(t.Context(), o)
	require.NoError(t, err)
	if _, err := d.ContainerStart(t.Context(), made.ID, client.ContainerStartOptions{}); err != nil {
		t.Fatal(err)
	}
	res, err := d.ContainerInspect(t.Context(), made.ID, client.ContainerInspectOptions{})
	if err != nil || !res.Container.State.Running {
		t.Fatalf("%s: %v %+v", name, err, res.Container.State)
	}
	return res.Container
}

// stateOf lists what a user has in Docker: networks, images and containers
// that are not of any run of ours (other tests may come and go), the daemon's
// own settings, and the bridge as the kernel knows it.
func stateOf(t *testing.T, d *daemon) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var all []string
	bridge, err := net.InterfaceByName("docker0")
	if err != nil {
		t.Fatalf("the user's bridge: %v", err)
	}
	all = append(all, fmt.Sprintf("docker0 %d", bridge.Index))
	if b, err := os.ReadFile("/etc/docker/daemon.json"); err == nil {
		all = append(all, "daemon.json "+string(b))
	}
	networks, err := d.NetworkList(ctx, client.NetworkListOptions{})
	require.NoError(t, err)
	for _, n := range networks.Items {
		all = append(all, "network "+n.Name+" "+n.ID)
	}
	images, err := d.ImageList(ctx, client.ImageListOptions{})
	require.NoError(t, err)
	for _, im := range images.Items {
		for _, tag := range im.RepoTags {
			if !strings.Contains(tag, "/plimsoll/") {
				all = append(all, "image "+tag+" "+im.ID)
			}
		}
	}
	containers, err := d.ContainerList(ctx, client.ContainerListOptions{All: true})
	require.NoError(t, err)
	for _, c := range containers.Items {
		if c.Labels[engine.Label] == "" {
			all = append(all, "container "+c.ID)
		}
	}
	info, err := d.Info(ctx, client.InfoOptions{})
	require.NoError(t, err)
	i := info.Info
	all = append(all, fmt.Sprint("daemon ", i.ID, i.Driver, i.CgroupDriver, i.DefaultRuntime, i.DockerRootDir, len(i.Runtimes)))
	slices.Sort(all)
	return all
}
