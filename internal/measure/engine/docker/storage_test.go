package docker

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/api/types/system"
	"github.com/moby/moby/client"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// overVFS is a kit whose user's daemon has the driver vfs, so that every other
// one is a private daemon's: a private daemon plays the user's.
func overVFS(t *testing.T, e *Engine) *engine.Kit {
	t.Helper()
	if testing.Short() {
		t.Skip("private daemons take seconds to start; left out with -short")
	}
	kit := enginetest.Kit(t)
	d, err := e.user(t.Context(), kit)
	if err != nil {
		t.Skip(err)
	}
	defer d.Close()
	answer, err := d.Info(t.Context(), client.InfoOptions{})
	if err != nil {
		t.Skip(err)
	}
	if no := e.privately(kit, &answer.Info, engine.Storage, "vfs", unavailable("", "")); no != nil {
		t.Skip(no)
	}
	own, err := e.startOwn(t.Context(), kit, &answer.Info, wanted{storage: "vfs", cgroups: answer.Info.CgroupDriver})
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := own.end(context.Background()); err != nil {
			t.Error(err)
		}
	})
	getenv := kit.Getenv
	kit.Getenv = func(name string) string {
		if name == e.variable {
			return own.host()
		}
		return getenv(name)
	}
	return kit
}

// oneLife opens an environment, which proves its levels, carries one container
// through its life, holds another, and closes it.
func oneLife(t *testing.T, e *Engine, kit *engine.Kit, levels map[string]string) map[string]string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	env, err := e.Open(ctx, kit, engine.Spec{ID: "life", Levels: levels, Limits: engine.Limits{CPUs: 1, MemoryBytes: 128 << 20}})
	if err != nil {
		var known *engine.Error
		if errors.As(err, &known) && known.Class == record.Unavailable {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	defer func() {
		for range 2 {
			if err := env.Close(context.Background()); err != nil {
				t.Errorf("Close: %v", err)
			}
		}
	}()
	var args probe.PayloadArgs
	res, err := env.Run(ctx, newTask(&args))
	if err != nil || res.Failure != nil {
		t.Fatalf("%v, %+v", err, res.Failure)
	}
	if _, err := probe.ParsePayload(res.Stdout, args.Word); err != nil {
		t.Error(err)
	}
	t.Log(env.Facts())
	heldOnce(t, env)
	return env.Facts()
}

// heldOnce holds a container: those of a private daemon are in its own network
// namespace.
func heldOnce(t *testing.T, env engine.Environment) {
	t.Helper()
	args := probe.PayloadArgs{Stay: true}
	h, err := env.(engine.Holder).Hold(t.Context(), newTask(&args))
	require.NoError(t, err)
	if p := h.Place(); p.PID == 0 || p.Address != "" && p.Inner != (env.Facts()["daemon"] == "private" || env.Facts()["rootless"] == "yes") {
		t.Errorf("place %+v", p)
	}
	res, err := h.End(t.Context(), engine.Stop{Grace: 10 * time.Second})
	if err != nil || res.Failure != nil {
		t.Fatalf("End: %v, %+v", err, res.Failure)
	}
	if _, err := probe.ParsePayload(res.Stdout, args.Word); err != nil {
		t.Error(err)
	}
}

// nothingOf demands that nothing bears a kit's name on the host.
func nothingOf(t *testing.T, kit *engine.Kit) {
	t.Helper()
	for _, left := range enginetest.Left(kit) {
		t.Errorf("left behind: %s", left)
	}
}

// TestStorage: each driver on a private daemon. overlay2 is the shorter way of
// the two that there are; the whole suite runs on the user's daemon.
func TestStorage(t *testing.T) {
	t.Parallel()
	e := New()
	kit := overVFS(t, e)
	for _, driver := range []string{"overlay2", "btrfs", "fuse-overlayfs", "overlayfs", "devicemapper", "zfs", "aufs"} {
		t.Run(driver, func(t *testing.T) {
			facts := oneLife(t, e, kit, map[string]string{engine.Storage: driver})
			if facts["storage"] != driver || facts["daemon"] != "private" || facts["limits"] != "engine" || facts["network"] != "bridge" {
				t.Errorf("facts %v", facts)
			}
			if files := e.private.Held(); len(files) != 0 {
				t.Errorf("still held: %v", files)
			}
		})
	}
	t.Run("host network", func(t *testing.T) {
		_, err := e.Open(t.Context(), kit, engine.Spec{ID: "host", Levels: map[string]string{engine.Storage: "overlay2", engine.Network: "host"}})
		var known *engine.Error
		if !errors.As(err, &known) || known.Class != record.Unsupported {
			t.Errorf("the network host on a private daemon: %v, want class %s", err, record.Unsupported)
		}
	})
}

// TestShared: two environments with one driver have one daemon, which ends
// with the second.
func TestShared(t *testing.T) {
	t.Parallel()
	e := New()
	kit := overVFS(t, e)
	var envs [2]engine.Environment
	for i, network := range []string{"none", engine.DefaultLevel} {
		env, err := e.Open(t.Context(), kit, engine.Spec{ID: "shared", Levels: map[string]string{engine.Storage: "overlay2", engine.Network: network}})
		require.NoError(t, err)
		envs[i] = env
	}
	own := envs[0].(*environment).d.own
	if own == nil || own != envs[1].(*environment).d.own {
		t.Error("two daemons where one was due")
	}
	for i, env := range envs {
		if !own.Alive() {
			t.Errorf("ended before environment %d was closed", i)
		}
		if err := env.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if own.Alive() {
		t.Error("the last one left, and the daemon runs on")
	}
}

// usersDaemon is what the daemon that is here tells of itself.
func usersDaemon(t *testing.T) (*Engine, *engine.Kit, *system.Info) {
	t.Helper()
	e := New()
	kit := enginetest.Kit(t)
	d, err := e.user(t.Context(), kit)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	answer, err := d.Info(t.Context(), client.InfoOptions{})
	if err != nil {
		t.Skip(err)
	}
	return e, kit, &answer.Info
}

// TestRefused: a driver that the daemon itself refuses is unavailable, in its
// own words.
func TestRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("a private dockerd needs root")
	}
	e, kit, info := usersDaemon(t)
	_, err := e.startOwn(t.Context(), kit, info, wanted{storage: "no-such-driver", cgroups: "cgroupfs"})
	var known *engine.Error
	if !errors.As(err, &known) || known.Class != record.Unavailable || !strings.Contains(known.Error(), "driver not supported") {
		t.Errorf("%v, want class %s and the daemon's words", err, record.Unavailable)
	}
	nothingOf(t, kit)
}

// TestRootless: the ordinary user's daemon, ours or the user's own.
func TestRootless(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a private daemon takes seconds to start; left out with -short")
	}
	for _, whose := range []string{"private", "user's"} {
		t.Run(whose, func(t *testing.T) {
			e, kit := New(), enginetest.Kit(t)
			if kit.User == nil {
				t.Skip(kit.NoUser)
			}
			levels := map[string]string{engine.Rootless: "yes", engine.Network: "none"}
			user := *kit.User
			socket := filepath.Join(user.RuntimeDir, "docker.sock")
			if whose == "private" {
				levels[engine.Storage] = "vfs" // a daemon has overlay2 or fuse-overlayfs by itself
			} else if c, err := net.Dial("unix", socket); err != nil { // a daemon that is gone leaves its socket
				t.Skipf("the user %s has no Docker that answers (%v); lab/engines/docker-rootless up starts one", user.Name, err)
			} else {
				require.NoError(t, c.Close())
			}
			facts := oneLife(t, e, kit, levels)
			if facts["rootless"] != "yes" || facts["user"] != user.Name || facts["daemon"] != whose {
				t.Errorf("facts %v", facts)
			}
			nothingOf(t, kit)
		})
	}
}
