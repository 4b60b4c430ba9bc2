package run

import (
	"os"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// cacheCold is the protocol's word for a machine that has read nothing yet.
const cacheCold = "cold"

// coldFix is what would let caches be dropped.
const coldFix = "run as root on the machine itself, where /proc/sys can be written, or measure with cache: warm"

// CachesCanBeDropped says why the machine's caches can't be dropped by us, if
// so: only its root may, and a container's /proc/sys is as a rule read-only. It
// drops none.
func CachesCanBeDropped() error { return canDrop(dropFile) }

// dropFile is explained in Documentation/admin-guide/sysctl/vm.rst of the kernel.
const dropFile = "/proc/sys/vm/drop_caches"

func canDrop(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return coldError(err)
	}
	return f.Close()
}

func coldError(err error) error {
	return &engine.Error{Class: record.Unavailable, Text: "cache: cold was asked for, and the machine's caches can't be dropped", Fix: coldFix, Err: err}
}

// canBeCold refuses an environment whose trials could not begin as the protocol
// wants them to. A simulated engine has no caches.
func (s *site) canBeCold(e engine.Engine) error {
	if s.rec.Protocol.Cache != cacheCold || e.Info().Simulated {
		return nil
	}
	return canDrop(s.dropFile)
}

// cool empties the page cache, dentries and inodes, after writing out what is
// dirty.
func (s *site) cool() error {
	unix.Sync()
	if err := os.WriteFile(s.dropFile, []byte("3\n"), 0o200); err != nil {
		return coldError(err)
	}
	return nil
}
