//go:build !unit

package vmtest

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	_ "embed"

	"plimsoll/internal/common/require"
)

// firstInit is the initramfs' /init: it unpacks the disk into memory and goes
// on there. The root of an initramfs can't be left by pivot_root, which
// runtimes call.
//
//go:embed testdata/init.sh
var firstInit string

// silent is for how long a machine may print nothing. Its script says what it begins,
// and how long all of it takes depends on who else has the processors.
const silent = 10 * time.Minute

// kernelDir is where the lab keeps the kernel.
func kernelDir() string {
	state := os.Getenv("PLIMSOLL_LAB_STATE")
	if state == "" {
		state = "/var/lib/plimsoll-lab"
	}
	return filepath.Join(state, "vm")
}

// need skips where there is nothing to boot.
func need(t *testing.T) (kernel string) {
	t.Helper()
	if testing.Short() {
		t.Skip("boots virtual machines, which takes most of a minute")
	}
	if _, err := exec.LookPath("qemu-system-x86_64"); err != nil {
		t.Skip("qemu-system-x86_64 is not installed: lab/engines/vm up installs it")
	}
	kernel = filepath.Join(kernelDir(), "vmlinuz")
	if _, err := os.Stat(kernel); err != nil {
		t.Skipf("there is no kernel to boot at %s: lab/engines/vm up provides one", kernel)
	}
	return kernel
}

// boot starts a machine on a disk with a root file system, waits until it ends
// and gives the directory with what it left in /out. parameters are the
// kernel's.
func boot(t *testing.T, disk, parameters string) (out string) {
	t.Helper()
	return start(t, disk, parameters, "-nic", "none").end()
}

// unpack takes the machine's own archive apart; nothing in it may lead out of
// the directory.
func unpack(t *testing.T, archive, dir string) {
	t.Helper()
	f, err := os.Open(archive)
	require.NoError(t, err)
	defer f.Close()
	for r := tar.NewReader(f); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("reading what the machine left: %v", err)
		}
		if !filepath.IsLocal(h.Name) {
			t.Fatalf("the machine left a file %q", h.Name)
		}
		switch path := filepath.Join(dir, h.Name); h.Typeflag {
		case tar.TypeDir:
			err = os.MkdirAll(path, 0o755)
		case tar.TypeReg:
			var text []byte
			if text, err = io.ReadAll(r); err == nil {
				err = os.WriteFile(path, text, 0o644)
			}
		}
		require.NoError(t, err)
	}
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, text, 0o644))
}
