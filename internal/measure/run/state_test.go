package run

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

func TestStateDir(t *testing.T) {
	env := func(m map[string]string) func(string) string { return func(k string) string { return m[k] } }
	for _, c := range []struct {
		root bool
		env  map[string]string
		want string
	}{
		{true, nil, "/var/lib/plimsoll"},
		{true, map[string]string{"PLIMSOLL_STATE": "/x"}, "/x"},
		{true, map[string]string{"XDG_STATE_HOME": "/home/u/state"}, "/var/lib/plimsoll"}, // sudo -E keeps the user's
		{false, map[string]string{"HOME": "/home/u"}, "/home/u/.local/state/plimsoll"},
		{false, map[string]string{"HOME": "/home/u", "XDG_STATE_HOME": "/s"}, "/s/plimsoll"},
		{false, nil, ""},
	} {
		s, err := StateDir(c.root, env(c.env))
		if s.Dir != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%+v: %q %v", c, s.Dir, err)
		}
	}
}

// TestStateByALink: the state directory is named as the kernel names it.
func TestStateByALink(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	real, link := filepath.Join(top, "real"), filepath.Join(top, "link")
	require.NoError(t, errors.Join(os.Mkdir(real, 0o755), os.Symlink("real", link)))
	for given, want := range map[string]string{link: real, link + "/below": real + "/below", real: real} {
		s, err := StateDir(true, func(k string) string { return map[string]string{"PLIMSOLL_STATE": given}[k] })
		if err != nil || s.Dir != want {
			t.Errorf("%s: %s, not %s: %v", given, s.Dir, want, err)
		}
	}
}

// abandon makes the folder of a run whose process has ended.
func abandon(t *testing.T, s State, id string) string {
	t.Helper()
	dir, err := s.Claim(id, "/out", nil)
	require.NoError(t, err)
	// A pid that was given away again is another process.
	b, err := json.Marshal(Owner{RunID: id, PID: 1, Start: "x"})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, ownerFile), b, 0o644))
	return dir
}

func TestClaim(t *testing.T) {
	s := State{t.TempDir()}
	for _, bad := range []string{"../../etc", "", "ABCDEFGH", "abcd"} {
		if _, err := s.Claim(bad, "", nil); err == nil {
			t.Errorf("%q was taken for a run's id", bad)
		}
		if err := s.Release(bad); err == nil {
			t.Errorf("%q was taken for a run's id", bad)
		}
	}
	mine := record.NewRunID()
	dir, err := s.Claim(mine, "/out", nil)
	require.NoError(t, err)
	if o, err := s.owner(mine); err != nil || o.Output != "/out" || o.fate(here()) != alive {
		t.Errorf("%+v %v", o, err)
	}
	if _, err := s.Claim(mine, "", nil); err == nil || !strings.Contains(err.Error(), "is measuring") {
		t.Errorf("a run that is under way was claimed: %v", err)
	}
	gone := abandon(t, s, "dead0000")
	left, err := s.Abandoned()
	if err != nil || len(left) != 1 || left[0].RunID != "dead0000" {
		t.Errorf("abandoned: %+v %v", left, err)
	}
	if _, err := s.Claim("dead0000", "", nil); err != nil {
		t.Errorf("a run that was cut off is not resumed: %v", err)
	}
	for _, id := range []string{mine, "dead0000"} {
		if err := s.Release(id); err != nil {
			t.Error(err)
		}
	}
	for _, d := range []string{dir, gone} {
		if _, err := os.Stat(d); err == nil {
			t.Errorf("%s is still there", d)
		}
	}
	// What a kill in the middle of a claim leaves.
	runs, err := s.runs(true)
	require.NoError(t, err)
	torn, err := runs.Mkdir(claimOf("abcd1234", here()), 0o700)
	require.NoError(t, err)
	f, _, err := torn.Temp(ownerFile, 0o644)
	require.NoError(t, err)
	if _, err := f.WriteString(`{"ru`); err != nil {
		t.Fatal(err)
	}
	f.Close()
	torn.Close()
	runs.Close()
	if elsewhere, err := s.tidy(); err != nil || len(elsewhere) > 0 {
		t.Error(elsewhere, err)
	}
	if left, _ := os.ReadDir(filepath.Join(s.Dir, "runs")); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// TestModesStay: a directory that is there keeps its mode, and one that is new is open to
// the engines of ordinary users.
func TestModesStay(t *testing.T) {
	mode := func(path string) os.FileMode {
		t.Helper()
		info, err := os.Stat(path)
		require.NoError(t, err)
		return info.Mode().Perm()
	}
	top := t.TempDir()
	private := filepath.Join(top, "private")
	require.NoError(t, errors.Join(os.Mkdir(private, 0o700), os.Mkdir(filepath.Join(private, "runs"), 0o750)))
	old := unix.Umask(0o077)
	defer unix.Umask(old)
	for dir, want := range map[string][2]os.FileMode{private: {0o700, 0o750}, filepath.Join(top, "new"): {0o755, 0o755}} {
		s := State{dir}
		if _, err := s.Claim("abcd1234", "", nil); err != nil {
			t.Fatal(err)
		}
		require.NoError(t, s.Release("abcd1234"))
		if got := [2]os.FileMode{mode(dir), mode(filepath.Join(dir, "runs"))}; got != want {
			t.Errorf("%s has the modes %v, not %v", dir, got, want)
		}
		if os.Geteuid() == 0 {
			user := &engine.User{Name: "alice", UID: 12345, GID: 12345}
			if why := s.closedTo(user); (why != "") != (want[0] == 0o700) || why != "" && !strings.Contains(why, "chmod o+x "+private) {
				t.Errorf("%s: %q", dir, why)
			}
		}
	}
}

// Canaries: folders that are named as a run's is and are none of ours.
func TestForeignFolders(t *testing.T) {
	s := State{t.TempDir()}
	runs := filepath.Join(s.Dir, "runs")
	write := func(dir, name, text string) {
		t.Helper()
		require.NoError(t, os.MkdirAll(filepath.Join(runs, dir), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(runs, dir, name), []byte(text), 0o644))
	}
	write("20261122", "thesis.txt", "years of work")
	write("abcd1234", "run.json", "{}")
	write("torntorn", ownerFile, `{"run":"torn`)
	write("otherrun", ownerFile, `{"run":"abcd1234","pid":1,"start":"x"}`)
	write("linklink", "precious", "x")
	require.NoError(t, os.Symlink(filepath.Join(runs, "otherrun", ownerFile), filepath.Join(runs, "linklink", ownerFile)))
	require.NoError(t, os.Symlink(filepath.Join(runs, "20261122"), filepath.Join(runs, "dirlink0")))
	write(claiming+"wxyz9876", "mine", "not a claim's")
	write("pipepipe", "precious", "x")
	require.NoError(t, exec.CommandContext(t.Context(), "mkfifo", filepath.Join(runs, "pipepipe", ownerFile)).Run())
	if left, err := s.Abandoned(); err != nil || len(left) != 0 {
		t.Errorf("taken for runs that were cut off: %+v %v", left, err)
	}
	for _, id := range []string{"20261122", "abcd1234", "torntorn", "otherrun", "linklink", "dirlink0", "pipepipe"} {
		if err := s.Release(id); err == nil {
			t.Errorf("%s was released", id)
		}
		if _, err := s.Claim(id, "", nil); err == nil {
			t.Errorf("%s was claimed", id)
		}
	}
	_, _ = s.tidy()
	for _, p := range []string{"20261122/thesis.txt", "abcd1234/run.json", "torntorn/" + ownerFile, "otherrun/" + ownerFile,
		"linklink/precious", "dirlink0/thesis.txt", claiming + "wxyz9876/mine", "pipepipe/precious"} {
		if _, err := os.Stat(filepath.Join(runs, p)); err != nil {
			t.Errorf("a user's %s is gone", p)
		}
	}
}
