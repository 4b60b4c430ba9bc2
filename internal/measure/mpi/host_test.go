package mpi

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

// gathered is this machine's library in a directory.
func gathered(t *testing.T) *Host {
	t.Helper()
	if testing.Short() {
		t.Skip("starts MPI jobs: left out with -short")
	}
	mpirun(t) // skips where there is no MPI
	h, err := Gather(t.Context(), filepath.Join(t.TempDir(), "host"), exec.LookPath, os.Getenv)
	require.NoError(t, err)
	return h
}

// bound runs two ranks with the library from its directory.
func bound(t *testing.T, env []string) (out, errs []byte, err error) {
	t.Helper()
	launcher, program := mpirun(t)
	var out1, errs1 bytes.Buffer
	// The launcher has its libraries at their own places.
	argv := append(append(launcher, "2", "env"), append(env, program, "barrier", "--iterations", "10")...)
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = &out1, &errs1
	err = cmd.Run()
	return out1.Bytes(), errs1.Bytes(), err
}

// TestGather: ranks that are led to the copy run with it and with nothing of the
// system's own library; where they are led elsewhere, that is told.
func TestGather(t *testing.T) {
	h := gathered(t)
	env := h.Env(h.Dir)
	out, errs, err := bound(t, env)
	if err != nil {
		t.Fatalf("%v: %s", err, errs)
	}
	seen, _, err := ParseSeen(out)
	if err != nil || seen.Ranks != 2 || seen.GLIBC != h.GLIBC {
		t.Fatalf("%+v, %v, C library %s", seen, err, h.GLIBC)
	}
	if why := h.Loaded(h.Dir, seen); why != "" {
		t.Error(why)
	}
	for _, c := range []struct {
		what string
		env  []string
		want string
	}{
		{"the system's library", []string{"PLIMSOLL_MPI_LIBRARY=" + h.Name}, "a rank has loaded /"},
		{"the system's plug-ins", without(without(env, "OPAL_PKGLIBDIR="), "LD_LIBRARY_PATH="), "which is the image's"},
	} {
		out, errs, err := bound(t, c.env)
		if err != nil {
			t.Fatalf("%s: %v: %s", c.what, err, errs)
		}
		seen, _, _ := ParseSeen(out)
		if why := h.Loaded(h.Dir, seen); !strings.Contains(why, c.want) {
			t.Errorf("%s: %q, want %q", c.what, why, c.want)
		}
	}
}

func without(env []string, prefix string) (rest []string) {
	for _, v := range env {
		if !strings.HasPrefix(v, prefix) {
			rest = append(rest, v)
		}
	}
	return rest
}

// TestGatherNewerGLIBC: a library that needs a newer C library than there is ends
// at once, with a reason: the real loader refuses it.
func TestGatherNewerGLIBC(t *testing.T) {
	h := gathered(t)
	path := filepath.Join(h.Dir, "lib", h.Name)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	newer := bytes.ReplaceAll(data, []byte("\x00GLIBC_2."), []byte("\x00GLIBC_9."))
	if bytes.Equal(newer, data) {
		t.Skip("this machine's MPI library names no version of the C library")
	}
	if err := os.WriteFile(path, newer, 0o755); err != nil { //nolint:gosec // a library
		t.Fatal(err)
	}
	out, errs, err := bound(t, h.Env(h.Dir))
	if err == nil {
		t.Fatalf("it was loaded: %s", out)
	}
	if why := h.Refused(errs); !strings.Contains(why, "needs GLIBC_9.") || !strings.Contains(why, "the host's is "+h.GLIBC) {
		t.Errorf("%q, of %s", why, errs)
	}
	if why := h.Refused([]byte("plimsoll-mpi: no such test: x\n")); why != "" {
		t.Error(why)
	}
}
