// Package private starts daemons of our own, and makes file systems on loop
// devices for them, where a factor is a property of the daemon and the user's
// daemon has another level.
//
// It is opinionated. A daemon lives in network and mount namespaces of its
// own: a second dockerd in the host's would take the bridge of the first away.
// So "host" is no network that a container of a private daemon can have; see
// HostNetwork. What belongs to a daemon is proved, never taken by a name or by
// what anybody could set: by its first process, by a secret in the environment
// of all its descendants, by the mount namespace and the cgroups that were made
// for it; ending it ends them all. The proof is a note in a directory that only
// we can write to. Everything lies below Kit.Dir/private, is told to the ledger
// before it is made, and is ended by Sweep when a run was killed.
package private

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// Fact is the value of the fact "daemon" for an environment on a private
// daemon; UserFact is that of the user's own.
const (
	Fact     = "private"
	UserFact = "user's"
)

// folder is the directory below Kit.Dir.
const folder = "private"

// HostNetwork refuses network=host on a private daemon: its containers would
// share the daemon's network namespace, which is not the host's.
func HostNetwork(spec engine.Spec) error {
	if spec.Level(engine.Network) != "host" {
		return nil
	}
	return &engine.Error{Class: record.Unsupported,
		Text: "a private daemon lives in a network namespace of its own, so its containers can't have the host's network"}
}

// Root says why private daemons in namespaces of their own can't be had by
// this kit's user, or nil.
func Root(kit *engine.Kit) *engine.Error {
	if kit.Root {
		return nil
	}
	return &engine.Error{Class: record.Unavailable, Text: "a private daemon needs root", Fix: "sudo plimsoll …"}
}

// ownFolder makes Kit.Dir/private/NAME, which is ours whoever runs the daemon:
// another may pass through it, and no more.
func ownFolder(kit *engine.Kit, name string) (string, error) {
	top := filepath.Join(kit.Dir, folder)
	if err := os.Mkdir(top, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return "", fmt.Errorf("making a directory for %s: %w", name, err)
	}
	dir := filepath.Join(top, name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", fmt.Errorf("making a directory for %s: %w", name, err)
	}
	return dir, nil
}

// removeFolder removes Kit.Dir/private/NAME, and the folder above it with the
// last one in it.
func removeFolder(dir string) error {
	if n, err := mountsBelow(dir); err != nil || len(n) > 0 {
		return errors.Join(err, stillMounted(n))
	}
	err := removeOwn(dir)
	if errors.Is(err, os.ErrPermission) && os.Geteuid() != 0 {
		err = removeMapped(dir)
	}
	_ = os.Remove(filepath.Dir(dir)) // fails while others are in it
	return err
}

// removeOwn removes a directory, and nothing of what is mounted in it: a mount may be
// one that no list tells us of.
func removeOwn(dir string) error {
	above, name, err := safepath.OpenParent(dir, safepath.Caller(os.Getenv))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer above.Close()
	return above.RemoveAll(name)
}

// removeMapped removes a directory with files of the ids that an ordinary user
// has in /etc/subuid: in a user namespace with these ids they are its own.
func removeMapped(dir string) error {
	ctx, cancel := context.WithTimeout(context.Background(), fsLimit)
	defer cancel()
	if err := command(ctx, "rootlesskit", "rm", "-rf", "--one-file-system", "--", dir); err != nil {
		return fmt.Errorf("removing %s: %w", dir, err)
	}
	return nil
}

func stillMounted(points []string) error {
	if len(points) == 0 {
		return nil
	}
	return fmt.Errorf("still mounted: %v", points)
}
