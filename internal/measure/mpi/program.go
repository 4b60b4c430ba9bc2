package mpi

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// FileName is what the program is called where it is put.
const FileName = "plimsoll-mpi"

// Program is the MPI program for this machine's architecture, linked with glibc
// alone. The caller must not change it.
func Program() []byte { return program }

// Put writes the program into a directory, where it can be executed by anybody.
func Put(dir string) error {
	if len(program) == 0 {
		return fmt.Errorf("there is no MPI program for %s; measure on amd64 or arm64", runtime.GOARCH)
	}
	// A child forked meanwhile would hold the file open for writing until it
	// execs, and starting it would fail: https://go.dev/issue/22315
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	path := filepath.Join(dir, FileName)
	if err := os.WriteFile(path, program, 0o755); err != nil { //nolint:gosec // a program is executable
		return fmt.Errorf("putting the MPI program into %s: %w", dir, err)
	}
	return os.Chmod(path, 0o755) //nolint:gosec // the umask took bits away
}
