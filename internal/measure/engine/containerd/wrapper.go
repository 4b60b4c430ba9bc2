package containerd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/containerd/containerd/api/types/runc/options"
	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/typeurl/v2"
)

// wrapperName is what the scripts are called, before the network.
const wrapperName = "containerd-runsc-"

// wrapper makes a script that adds a flag to runsc, since the shim passes none.
func wrapper(dir, program, network string) (string, error) {
	path := filepath.Join(dir, wrapperName+network)
	text := fmt.Sprintf("#!/bin/sh\nexec '%s' --network=%s \"$@\"\n", strings.ReplaceAll(program, "'", `'\''`), network)
	if have, err := os.ReadFile(path); err == nil && string(have) == text {
		return path, nil
	}
	// A child forked meanwhile would hold the file open for writing, and
	// starting it would fail: https://go.dev/issue/22315
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return path, os.WriteFile(path, []byte(text), 0o755)
}

// restoreWrapper makes the script again that a container of a run that was
// killed needs to be deleted, where the run's directory has gone; undo takes
// it away.
func (d *daemon) restoreWrapper(ctx context.Context, c client.Container) (undo func(), err error) {
	undo = func() {}
	info, err := c.Info(ctx)
	if err != nil || info.Runtime.Options == nil {
		return undo, err
	}
	var o options.Options
	if typeurl.UnmarshalTo(info.Runtime.Options, &o) != nil {
		return undo, nil // another shim's options
	}
	dir, name := filepath.Split(o.BinaryName)
	network, ours := strings.CutPrefix(name, wrapperName)
	if _, err := os.Stat(o.BinaryName); !ours || !errors.Is(err, os.ErrNotExist) {
		return undo, nil
	}
	program, err := d.lookPath("runsc")
	if err != nil {
		return undo, fmt.Errorf("its runtime is gone: %w", err)
	}
	_, err = os.Stat(dir)
	made := errors.Is(err, os.ErrNotExist)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return undo, err
	}
	undo = func() {
		_ = os.Remove(o.BinaryName)
		if made {
			_ = os.Remove(dir)
		}
	}
	_, err = wrapper(dir, program, network)
	return undo, err
}
