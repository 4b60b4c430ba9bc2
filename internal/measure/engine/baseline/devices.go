package baseline

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// devices are what programs expect in /dev, by their numbers, see devices.txt of
// the kernel's documentation.
var devices = []struct {
	name         string
	major, minor uint32
}{{"null", 1, 3}, {"zero", 1, 5}, {"full", 1, 7}, {"random", 1, 8}, {"urandom", 1, 9}, {"tty", 5, 0}}

// deviceLinks are the links beside them, see "Default Filesystems" and "Default
// Devices" in the OCI runtime specification.
var deviceLinks = map[string]string{
	"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
}

// makeDevices fills a /dev, an existing directory, before the trial: what happens
// in a trial stays the least that can be done.
func makeDevices(dir string) error {
	for _, d := range devices {
		path := filepath.Join(dir, d.name)
		if err := unix.Mknod(path, unix.S_IFCHR|0o666, int(unix.Mkdev(d.major, d.minor))); err != nil {
			return fmt.Errorf("making %s: %w", path, err)
		}
		if err := os.Chmod(path, 0o666); err != nil { //nolint:gosec // as everywhere; Mknod is subject to the umask
			return err
		}
	}
	for name, to := range deviceLinks {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("making a link in /dev: %w", err)
		}
	}
	return nil
}
