package run

import (
	"context"
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
	return &engine.Error{Class: record.Unavailable, Text: "cache: cold was asked for, but the machine's caches can't be dropped", Fix: coldFix, Err: err}
}

// canBeCold refuses an environment whose trials could not begin as the protocol
// wants them to. A simulated engine has no caches.
func (s *site) canBeCold(e engine.Engine) error {
	if !s.cold() || e.Info().Simulated {
		return nil
	}
	return canDrop(s.dropFile)
}

// cold says whether every trial begins with cold caches.
func (s *site) cold() bool { return s.rec.Protocol.Cache == cacheCold }

// cool empties the page cache, dentries and inodes, after writing out what is
// dirty. An engine that is asked before a trial whether it answers is asked
// before that: afterwards it would be warmer than one that nobody asks.
func (s *site) cool(ctx context.Context, env engine.Environment) *record.Failure {
	if e, ok := env.(engine.Readier); ok {
		f, err := safely(func() (*record.Failure, error) { return e.Ready(ctx), nil })
		if err != nil {
			return engine.FailureOf(err)
		}
		if f != nil {
			return f
		}
	}
	unix.Sync()
	if err := os.WriteFile(s.dropFile, []byte("3\n"), 0o200); err != nil {
		return engine.FailureOf(coldError(err))
	}
	return nil
}
