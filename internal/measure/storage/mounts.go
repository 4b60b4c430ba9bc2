//go:build linux

package storage

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/host/proc"
)

// mountsOf gives the mounts that are meant.
func mountsOf(m *Machine, meant func(*proc.Mount) bool) ([]*proc.Mount, error) {
	all, err := proc.Dir(m.path("/proc")).Mounts(proc.Self)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(x *proc.Mount) bool { return !meant(x) }), nil
}

// Settle has this machine's kernel send what it still holds of every mounted
// remote file system to its servers, so that a window holds what was written in
// it. A mount that does not answer in time is named, and waited for no longer.
func Settle(ctx context.Context, m *Machine, limit time.Duration) error {
	mounts, err := mountsOf(m, proc.Remote)
	if err != nil || len(mounts) == 0 {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var late []string
	for _, x := range mounts {
		done := make(chan error, 1) // a server that is gone may keep syncfs for ever
		go func() { done <- syncMount(x.Mountpoint) }()
		select {
		case <-ctx.Done():
			late = append(late, x.Mountpoint)
		case err := <-done:
			if err != nil {
				late = append(late, x.Mountpoint+" ("+err.Error()+")")
			}
		}
	}
	if len(late) > 0 {
		return fmt.Errorf("what was written to %s may not have reached its servers yet", strings.Join(late, ", "))
	}
	return nil
}

func syncMount(point string) error {
	fd, err := unix.Open(point, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Syncfs(fd)
}
