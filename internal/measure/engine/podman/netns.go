package podman

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"golang.org/x/sys/unix"
)

// netnsName is what podman calls the files of network namespaces: its own, and
// those of its older versions.
var netnsName = regexp.MustCompile(`^(netns|cni)-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// runDir is where podman, its runtimes and its network keep what is volatile.
func (p *program) runDir() string {
	if p.user != nil {
		return p.user.RuntimeDir
	}
	return "/run"
}

// namespaces lists the files of the network namespaces of a store's containers.
// Their names are random: that one is ours is told by the bundle that names it,
// which lies in the store.
func (p *program) namespaces() (files []string) {
	dir := filepath.Join(p.runDir(), "netns")
	_ = p.asUser(func() error { // without bundles there are none
		bundles, err := filepath.Glob(filepath.Join(p.store.root, "*-containers", "*", "userdata", "config.json"))
		for _, b := range bundles {
			text, err := readState(b)
			if err != nil {
				continue
			}
			if f := namespaceOf(text); filepath.Dir(f) == dir && netnsName.MatchString(filepath.Base(f)) && !slices.Contains(files, f) {
				files = append(files, f)
			}
		}
		return err
	})
	return files
}

// namespaceOf gives the file of the network namespace that a container's OCI
// specification names.
func namespaceOf(spec []byte) string {
	var c struct {
		Linux struct {
			Namespaces []struct{ Type, Path string }
		}
	}
	_ = json.Unmarshal(spec, &c) // a torn one names none
	for _, ns := range c.Linux.Namespaces {
		if ns.Type == "network" {
			return filepath.Clean(ns.Path)
		}
	}
	return ""
}

// removeNamespaces removes the files of network namespaces whose containers are
// gone, in the mount namespace in which podman has mounted them.
func (p *program) removeNamespaces(ctx context.Context, files []string) error {
	var errs []error
	for _, f := range files {
		if _, err := os.Lstat(f); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if p.user != nil {
			_, _ = p.plain().output(ctx, "unshare", "umount", "--", f) // with the pause process its mounts went
		} else if err := unix.Unmount(f, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW); err != nil && !errors.Is(err, unix.EINVAL) {
			errs = append(errs, fmt.Errorf("unmounting the network namespace %s: %w", f, err))
			continue
		}
		err := p.asUser(func() error { return os.Remove(f) })
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("removing the network namespace's file: %w", err))
		}
	}
	return errors.Join(errs...)
}
