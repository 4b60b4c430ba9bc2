package revision

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"plimsoll/internal/measure/child"
)

// Build builds in a directory by a line for the shell, which the user gave; program is
// the file that it makes, and what it prints goes to out. A *BuildError is the
// commit's own fault.
//
// As root it is in a process namespace of its own, which ends with us: after a kill no
// compiler goes on. In a container root may often make none: then it is as for others.
func Build(ctx context.Context, dir, line, program string, out io.Writer, limit time.Duration) error {
	run := func(namespaces uintptr) error {
		attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Cloneflags: namespaces}
		return onThread(func() error {
			_, err := child.Run(ctx, child.Command{Argv: []string{"/bin/sh", "-c", line}, Env: environment(os.Environ()), Dir: dir, Stdout: out, Together: true, Limit: limit, Attr: attr})
			return err
		})
	}
	var err error
	if os.Geteuid() == 0 {
		err = run(syscall.CLONE_NEWPID)
	}
	if os.Geteuid() != 0 || notBegun(err) {
		err = run(0)
	}
	switch {
	case notBegun(err):
		return err // of no commit's making
	case err != nil:
		return &BuildError{Err: err}
	}
	if st, err := os.Stat(program); err != nil || !st.Mode().IsRegular() {
		return &BuildError{Err: fmt.Errorf("it made no file %s", filepath.Base(program))}
	}
	return nil
}

// notBegun says of a program's error that it could not even be started.
func notBegun(err error) bool {
	failed, ok := errors.AsType[*os.PathError](err)
	return ok && failed.Op == "fork/exec"
}

// onThread carries something out on a thread that lasts as long as it does: a child
// ends with the thread that started it (prctl(2), PR_SET_PDEATHSIG).
func onThread(f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		done <- f()
	}()
	return <-done
}

// BuildError is a build that failed.
type BuildError struct{ Err error }

func (e *BuildError) Error() string { return "the build failed: " + e.Err.Error() }

// Unwrap is why.
func (e *BuildError) Unwrap() error { return e.Err }
