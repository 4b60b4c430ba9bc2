//go:build linux

package imagestore

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/image"
)

// stranger is an ordinary user of the machine, who is nobody's friend.
const stranger = 65534

func asRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can look as another user does")
	}
}

// openDir is a store's place that every user may come to.
func openDir(t *testing.T) string {
	t.Helper()
	dir := storeDir(t)
	require.Reachable(t, filepath.Dir(dir))
	return dir
}

// seenBy lists those of the paths that a user can get at.
func seenBy(t *testing.T, uid, gid uint32, paths ...string) []string {
	t.Helper()
	cmd := exec.Command("/bin/sh", append([]string{"-c", `for f; do [ -e "$f" ] && echo "$f"; done; exit 0`, "sh"}, paths...)...)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: gid}}
	out, err := cmd.Output()
	require.NoError(t, err)
	return strings.Fields(string(out))
}

// privileged lists the programs below a directory that make whoever starts
// them somebody else.
func privileged(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().IsRegular() && info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0 {
			out = append(out, p)
		}
		return err
	})
	require.NoError(t, err)
	return out
}

func withSetuid(t *testing.T) (ref string) {
	t.Helper()
	addr, _ := serve(t)
	ref = addr + "/library/su:1"
	put(t, ref, layerOf(t, dirHeader("bin"), file("bin/su", 0o4755), file("bin/wall", 0o2755), file("bin/sh", 0o755)))
	return ref
}

// An image's set-user-ID programs are out of everybody's reach, in a store that
// an earlier version left open too; and the user whose engine needs the image
// has a copy without the bits.
func TestSetUserIDProgramsAreOutOfReach(t *testing.T) {
	asRoot(t)
	ref, dir := withSetuid(t), openDir(t)
	s := storeIn(t, dir, Options{RunID: "ab12cd34"})
	root := mustPath(t, s, ref, image.Directory)
	found := privileged(t, dir)
	if len(found) < 4 { // of the base, and of the image
		t.Fatalf("the image has lost its bits: %v", found)
	}
	if got := seenBy(t, stranger, stranger, append(found, root)...); len(got) > 0 {
		t.Errorf("a stranger reaches %v", got)
	}

	own, err := s.PathFor(t.Context(), ref, image.Directory, stranger, stranger)
	require.NoError(t, err)
	if got := privileged(t, own); len(got) > 0 {
		t.Errorf("the user's copy has %v", got)
	}
	sh := filepath.Join(own, "bin/sh")
	if got := seenBy(t, stranger, stranger, sh, filepath.Join(own, "bin/su")); len(got) != 2 {
		t.Errorf("the user sees %v of their copy", got)
	}
	if got := seenBy(t, 4321, 4321, sh, own); len(got) > 0 {
		t.Errorf("another user sees %v", got)
	}
	again, err := storeIn(t, dir, Options{}).PathFor(t.Context(), ref, image.Directory, stranger, stranger)
	if err != nil || again != own {
		t.Errorf("%s, then %s (%v)", own, again, err)
	}
	archive, err := s.PathFor(t.Context(), ref, image.DockerArchive, stranger, stranger)
	require.NoError(t, err)
	if got := seenBy(t, stranger, stranger, archive); len(got) != 1 {
		t.Errorf("the user can't reach %s", archive)
	}

	// As an earlier version left it, without a mark.
	err = errors.Join(s.Close(), os.RemoveAll(filepath.Join(dir, usersDir)), os.Remove(filepath.Join(dir, markFile)),
		os.Chmod(dir, 0o755), os.Chmod(filepath.Join(dir, "v2"), 0o755), os.Chmod(filepath.Join(dir, "lock"), 0o644))
	require.NoError(t, err)
	if len(seenBy(t, stranger, stranger, found...)) == 0 {
		t.Fatal("the test does not open the store")
	}
	mustPath(t, storeIn(t, dir, Options{}), "payload", image.Directory)
	if got := seenBy(t, stranger, stranger, found...); len(got) > 0 {
		t.Errorf("it was not mended: a stranger reaches %v", got)
	}
	if info, err := os.Stat(filepath.Join(dir, "lock")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("everybody can hold the store's lock: %v (%v)", info.Mode(), err)
	}
}

// The archives of a run go with it, the user's too, and those of other runs
// stay for them.
func TestArchivesGoWithTheirRun(t *testing.T) {
	dir := storeDir(t)
	var paths []string
	for _, id := range []string{"ab12cd34", "ef56gh78", "20261122"} {
		s := storeIn(t, dir, Options{RunID: id})
		p, err := s.PathFor(t.Context(), "payload", image.DockerArchive, stranger, stranger)
		require.NoError(t, err)
		paths = append(paths, mustPath(t, s, "payload", image.DockerArchive), p)
		if id == "20261122" {
			continue
		}
		defer s.Close()
	}
	s := storeIn(t, dir, Options{})
	gone, err := s.ForgetOver(func(id string) bool { return id == "ef56gh78" })
	slices.Sort(gone)
	if err != nil || !slices.Equal(gone, []string{"20261122", "ab12cd34"}) {
		t.Errorf("gone are %v (%v)", gone, err)
	}
	for _, p := range paths {
		if want := strings.Contains(p, "ef56gh78"); exists(p) != want {
			t.Errorf("%s is there: %v, want %v", p, !want, want)
		}
	}
	if err := s.Forget("ef56gh78"); err != nil || exists(paths[2]) || exists(paths[3]) || exists(filepath.Join(dir, runsDir)) {
		t.Errorf("the run's archives are there (%v)", err)
	}
}

// Directories that a user could have called so, with things of theirs.
func TestWhatIsNoStoreStays(t *testing.T) {
	for name, files := range map[string][]string{
		"pictures":          {"holiday.jpg"},
		"runs of ours":      {"runs/20261122/notes"},
		"versions":          {"v2/site/index.html"},
		"a lock alone":      {"lock"},
		"looks like":        {"lock", "v2/debian-0123456789abcdef/rootfs/etc/passwd"},
		"looks even more":   {"lock", "v2/debian-0123456789abcdef/image.sif.seal", "v2/mine/x"},
		"one thing besides": {"lock", "v2/debian-0123456789abcdef/image.sif.seal", "thesis.tex"},
	} {
		dir := storeDir(t)
		for _, f := range files {
			text := "mine"
			if strings.HasSuffix(f, ".seal") {
				text = `{"sum":"sha256:00"}`
			}
			require.NoError(t, errors.Join(os.MkdirAll(filepath.Join(dir, filepath.Dir(f)), 0o755), os.WriteFile(filepath.Join(dir, f), []byte(text), 0o600)))
		}
		var e *Error
		s := storeIn(t, dir, Options{RunID: "ab12cd34"})
		if _, err := s.Path(t.Context(), "payload", image.DockerArchive); !errors.As(err, &e) || e.Fix == "" || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: it was taken for a store: %v", name, err)
		}
		if _, err := s.ForgetOver(func(string) bool { return false }); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if removed, err := RemoveStore(dir); removed || !errors.Is(err, errNoStore) {
			t.Errorf("%s: removed %v, %v", name, removed, err)
		}
		if err := errors.Join(s.Forget(""), s.Close()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, f := range files {
			if !exists(filepath.Join(dir, f)) {
				t.Errorf("%s: %s is gone", name, f)
			}
		}
	}
}

func TestRemoveStore(t *testing.T) {
	dir := storeDir(t)
	if removed, err := RemoveStore(dir); removed || err != nil {
		t.Errorf("nothing was there: %v, %v", removed, err)
	}
	mustPath(t, storeIn(t, dir, Options{RunID: "ab12cd34"}), "payload", image.DockerArchive)
	notes := filepath.Join(dir, "notes")
	require.NoError(t, os.WriteFile(notes, nil, 0o600))
	if removed, err := RemoveStore(dir); removed || err == nil || !strings.Contains(err.Error(), `"notes"`) || !exists(notes) {
		t.Errorf("with a file of somebody's in it: %v, %v", removed, err)
	}
	require.NoError(t, os.Remove(notes))
	if removed, err := RemoveStore(dir); !removed || err != nil || exists(dir) {
		t.Errorf("%v, %v", removed, err)
	}
}

// What a registry gave keeps its bits in the tree's digest.
func TestUnprivileged(t *testing.T) {
	in := tree{{path: "/", kind: kindDir, mode: 0o2755}, {path: "/a", kind: kindLink, mode: 0o777, link: "b"}, {path: "/b", kind: kindFile, mode: 0o6755}, {path: "/tmp", kind: kindDir, mode: 0o1777}}
	out := in.unprivileged()
	for i, want := range []uint32{0o755, 0o777, 0o755, 0o1777} {
		if out[i].mode != want {
			t.Errorf("%s has mode %04o", out[i].path, out[i].mode)
		}
	}
	if in[2].mode != 0o6755 || in.digest() == out.digest() {
		t.Error("the tree itself was changed")
	}
}
