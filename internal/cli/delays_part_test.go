//go:build linux

package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
)

// part is a program in the place of one of an engine's, which does some work of its own
// and then becomes that one: testdata/delays/part.c says which work there is.
type part struct {
	name string // of its file
	next string // the program in whose place it stands
	word string // what one of its arguments begins with where it works; "" where it always does
	// file is what it works on, and ask a pipe by which it says that it wants a lock.
	file, ask string
	work      string // what it does, and how much of it: NAME=NUMBER
	how       string // UNDONE: mounts are gone again; SHARED: the lock is in memory
}

// made compiles the part into a directory of its own; log is where it says, in each start,
// from when to when it worked.
func (p part) made(t *testing.T) (path, log string) {
	t.Helper()
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("there is no C compiler to make a program that does more")
	}
	text, err := os.ReadFile(filepath.Join("testdata", "delays", "part.c"))
	require.NoError(t, err)
	dir := t.TempDir()
	path, log = filepath.Join(dir, p.name), filepath.Join(dir, "log")
	flags := []string{"-O1", "-D" + p.work}
	for key, value := range map[string]string{"NEXT": p.next, "WORD": p.word, "LOG": log, "FILE_NAME": p.file, "ASK": p.ask} {
		flags = append(flags, "-D"+key+"="+strconv.Quote(value))
	}
	if p.how != "" {
		flags = append(flags, "-D"+p.how)
	}
	require.NoError(t, compile(path, string(text), flags...))
	return path, log
}

// mounted is a directory with as many others as a part makes mounts.
func mounted(t *testing.T, mounts int) string {
	t.Helper()
	dir := t.TempDir()
	for i := range mounts {
		require.NoError(t, os.Mkdir(filepath.Join(dir, strconv.Itoa(i)), 0o755))
	}
	return dir
}

// lockHolder runs a process that holds a lock on a file, or in one that it shares (SHARED),
// and keeps it for so long, ns, when somebody wants it.
func lockHolder(t *testing.T, ns int64, how string) (file, ask string) {
	t.Helper()
	dir := t.TempDir()
	file, ask = filepath.Join(dir, "lock"), filepath.Join(dir, "ask")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.NoError(t, unix.Mkfifo(ask, 0o600))
	holder, _ := part{name: "lock-holder", file: file, ask: ask, work: fmt.Sprintf("HOLDS=%d", ns), how: how}.made(t)
	c := exec.Command(holder)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	_, err = out.Read(make([]byte, 1)) // it has the lock
	require.NoError(t, err)
	return file, ask
}
