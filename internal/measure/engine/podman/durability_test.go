package podman

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// TestDurability asks the kernel: of what a trial starts, podman and all that it executes,
// no call that waits for the disk gets past the filter, and some do without it.
func TestDurability(t *testing.T) {
	kit := enginetest.Kit(t)
	if !kit.Root {
		t.Skip("counting the calls of others needs root")
	}
	points := tracepoints(t)
	for name, levels := range map[string]map[string]string{
		"run": {}, "steps": {engine.Client: bySteps}, "rootless": {engine.Rootless: "yes"},
		"api": {engine.Client: byAPI, engine.Runtime: "crun"}, // a service of ours on both sides
	} {
		t.Run(name, func(t *testing.T) {
			for _, without := range []string{engine.DefaultLevel, engine.Durability} {
				spec := engine.Spec{ID: "durability", Levels: maps.Clone(levels)}
				spec.Levels[engine.Network], spec.Levels[engine.Without] = "none", without
				n := syncs(t, points, kit, spec)
				t.Logf("without %s: %d", without, n)
				if (n == 0) != (without == engine.Durability) {
					t.Errorf("without %s: %d calls got past", without, n)
				}
			}
		})
	}
}

// syncs counts the calls of one trial that wait for the disk.
func syncs(t *testing.T, points []uint64, kit *engine.Kit, spec engine.Spec) (n uint64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	env, err := New().Open(ctx, kit, spec)
	if e, ok := errors.AsType[*engine.Error](err); ok && e.Class == record.Unavailable {
		t.Skip(e)
	}
	require.NoError(t, err)
	defer func() { require.NoError(t, env.Close(context.WithoutCancel(ctx))) }()
	var counters []int
	for _, pid := range family(os.Getpid())[1:] { // launchers and a service: what we start beside the trial is not under the filter
		tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
		require.NoError(t, err)
		for _, task := range tasks {
			id, err := strconv.Atoi(task.Name())
			require.NoError(t, err)
			for _, point := range points {
				counters = append(counters, counter(t, id, point))
			}
		}
	}
	args := probe.PayloadArgs{Word: adapter.Word()}
	res, err := env.Run(ctx, engine.Task{Name: adapter.Name(kit.RunID, spec.ID, args.Word[:6]), Limit: time.Minute, Argv: args.Argv(image.ProbePath)})
	require.NoError(t, err)
	if res.Failure != nil {
		t.Fatalf("%+v: %s", res.Failure, res.Stderr)
	}
	for _, fd := range counters {
		var b [8]byte
		if k, err := unix.Read(fd, b[:]); err != nil || k != len(b) {
			t.Fatalf("reading a counter: %d bytes, %v", k, err)
		}
		n += binary.NativeEndian.Uint64(b[:])
		require.NoError(t, unix.Close(fd))
	}
	return n
}

// tracepoints are the numbers of those of the calls that wait for the disk: a call that a
// filter answers does not get there. They are read in a mount of the tracing file system
// that no path leads to.
func tracepoints(t *testing.T) (ids []uint64) {
	t.Helper()
	fs, err := unix.Fsopen("tracefs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		t.Skip("the kernel has no tracing file system: ", err)
	}
	defer unix.Close(fs)
	require.NoError(t, unix.FsconfigCreate(fs))
	root, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, 0)
	require.NoError(t, err)
	defer unix.Close(root)
	for _, call := range []string{"fsync", "fdatasync", "sync_file_range", "syncfs", "sync", "msync"} {
		fd, err := unix.Openat(root, "events/syscalls/sys_enter_"+call+"/id", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.ENOENT) {
			t.Skip("the kernel has no tracepoints of system calls")
		}
		require.NoError(t, err)
		var b [32]byte
		n, err := unix.Read(fd, b[:])
		require.NoError(t, errors.Join(err, unix.Close(fd)))
		id, err := strconv.ParseUint(strings.TrimSpace(string(b[:n])), 10, 64)
		require.NoError(t, err)
		ids = append(ids, id)
	}
	return ids
}

// counter counts what a thread, and all that it will start, passes of a tracepoint.
func counter(t *testing.T, thread int, point uint64) int {
	t.Helper()
	attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_TRACEPOINT, Config: point, Bits: unix.PerfBitInherit}
	attr.Size = uint32(unsafe.Sizeof(attr))
	fd, err := unix.PerfEventOpen(&attr, thread, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		t.Skip("the kernel counts nothing here: ", err)
	}
	return fd
}
