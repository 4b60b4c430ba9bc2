package podman

import (
	"fmt"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// unsync has the commands wait for no disk, where a spec asks for it, and a service of
// ours: the user's own is left alone. The service is started as its user, and only root
// can put the filter around it.
func (p *program) unsync(spec engine.Spec) *engine.Error {
	if !spec.Omits(engine.Durability) {
		return nil
	}
	if clientLevel(spec) == byAPI && p.as != nil {
		return &engine.Error{Class: record.Unsupported, Text: "the filter is put around an ordinary user's podman, not around its service", Fix: "client=cli"}
	}
	p.unsynced, p.told = true, true
	return nil
}

// needsRoot says why an ordinary user can't have it.
func needsRoot() *engine.Error {
	return &engine.Error{Class: record.Unavailable, Fix: "sudo plimsoll …",
		Text: "the filter that answers fsync is root's to set: for anybody else it takes no_new_privs, with which newuidmap has no rights"}
}

// writeOut writes out what was left to the kernel while nobody waited for it. The user's
// own store is among it.
func writeOut(dir string) error {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("opening podman's store %s, to write it out: %w", dir, err)
	}
	defer unix.Close(fd)
	if err := unix.Syncfs(fd); err != nil {
		return fmt.Errorf("writing podman's store %s out: %w", dir, err)
	}
	return nil
}
