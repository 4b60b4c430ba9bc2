package safepath

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
)

// stranger is nobody's user, whom root does not trust.
const stranger = 65534

func asRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root has rights that another could borrow")
	}
}

// place is a directory that only its owner may write to, wherever tests run.
func place(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return dir
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	require.NoError(t, errors.Join(errs...))
}

// mkdir makes a directory of this owner and mode.
func mkdir(t *testing.T, path string, mode fs.FileMode, uid int) string {
	t.Helper()
	must(t, os.MkdirAll(path, 0o755), os.Chown(path, uid, uid), os.Chmod(path, mode))
	return path
}

func unsafe(t *testing.T, err error) *UnsafeError {
	t.Helper()
	var u *UnsafeError
	if !errors.As(err, &u) {
		t.Fatalf("the error is %v, not one of an unsafe path", err)
	}
	return u
}

func TestOwners(t *testing.T) {
	asRoot(t)
	top := place(t)
	theirs := mkdir(t, filepath.Join(top, "theirs"), 0o755, stranger)
	_, err := Make(filepath.Join(theirs, "out"), 0o755, Rule{})
	u := unsafe(t, err)
	if u.At != theirs || u.UID != stranger || !strings.Contains(err.Error(), "65534") || u.Fix == "" {
		t.Errorf("the error does not say what is wrong: %v", err)
	}
	if left, _ := os.ReadDir(theirs); len(left) > 0 {
		t.Errorf("%s was made all the same", left[0])
	}
	d, err := Make(filepath.Join(theirs, "out/deep"), 0o755, Rule{Owners: []int{stranger}})
	must(t, err)
	defer d.Close()
	if d.Path() != filepath.Join(theirs, "out/deep") || d.Owner() != 0 {
		t.Errorf("got %s of %d", d.Path(), d.Owner())
	}
}

// TestResolve: a directory has the name that the kernel gives to what is there.
func TestResolve(t *testing.T) {
	top := place(t)
	real := filepath.Join(top, "disk/plimsoll")
	must(t, os.MkdirAll(real, 0o755), os.Mkdir(filepath.Join(top, "var"), 0o755),
		os.Symlink(real, filepath.Join(top, "var/absolute")), os.Symlink("../disk", filepath.Join(top, "var/relative")),
		os.Symlink("absolute", filepath.Join(top, "var/twice")), os.Symlink("../disk/later", filepath.Join(top, "var/dangling")),
		os.Symlink("loop", filepath.Join(top, "var/loop")))
	for way, want := range map[string]string{
		"disk/plimsoll": "disk/plimsoll", "var/absolute/runs": "disk/plimsoll/runs", "var/relative/plimsoll": "disk/plimsoll",
		"var/twice/a/b": "disk/plimsoll/a/b", "var/dangling/a": "disk/later/a", "none/at/all": "none/at/all",
	} {
		if got, err := Resolve(filepath.Join(top, way), Rule{}); err != nil || got != filepath.Join(top, want) {
			t.Errorf("%s is %s (%v), not %s", way, got, err, want)
		}
	}
	if got, err := Resolve(filepath.Join(top, "var/loop"), Rule{}); err == nil {
		t.Errorf("a link to itself is %s", got)
	}
	if got, err := Resolve("/", Rule{}); err != nil || got != "/" {
		t.Errorf("/ is %q: %v", got, err)
	}
	if os.Geteuid() != 0 {
		return
	}
	// Root does not go by what somebody else has laid.
	mkdir(t, filepath.Join(top, "theirs"), 0o755, stranger)
	must(t, os.Symlink(real, filepath.Join(top, "theirs/link")))
	_, err := Resolve(filepath.Join(top, "theirs/link"), Rule{})
	unsafe(t, err)
	must(t, os.RemoveAll(filepath.Join(top, "theirs")))
	asUser(t, "TestResolve")
}

func TestLinks(t *testing.T) {
	asRoot(t)
	top := place(t)
	victim := mkdir(t, filepath.Join(top, "victim"), 0o755, 0)
	theirs := mkdir(t, filepath.Join(top, "theirs"), 0o755, stranger)
	tmp := mkdir(t, filepath.Join(top, "tmp"), 0o777|fs.ModeSticky, 0)
	rule := Rule{Owners: []int{stranger}}
	for _, in := range []string{theirs, tmp} {
		must(t, os.Symlink(victim, filepath.Join(in, "link")))
		for _, path := range []string{"link", "link/new"} {
			_, err := Make(filepath.Join(in, path), 0o755, rule)
			if u := unsafe(t, err); u.At != filepath.Join(in, "link") || !strings.Contains(err.Error(), victim) {
				t.Errorf("the error does not name the link and where it leads: %v", err)
			}
		}
	}
	// A link of another's is none of root's, wherever it lies.
	must(t, os.Symlink(victim, filepath.Join(top, "planted")), os.Lchown(filepath.Join(top, "planted"), stranger, stranger))
	_, err := Open(filepath.Join(top, "planted"), rule)
	unsafe(t, err)
	if left, _ := os.ReadDir(victim); len(left) > 0 {
		t.Errorf("%s was made behind a link", left[0])
	}
	// Those of a distribution are followed, relative and absolute ones.
	must(t, os.Symlink("../"+filepath.Base(top)+"/victim", filepath.Join(top, "relative")), os.Symlink(victim, filepath.Join(top, "absolute")))
	for _, name := range []string{"relative", "absolute"} {
		d, err := Make(filepath.Join(top, name, "below-"+name), 0o755, Rule{})
		must(t, err)
		d.Close()
		if d.Path() != filepath.Join(victim, "below-"+name) {
			t.Errorf("%s led to %s", name, d.Path())
		}
	}
	must(t, os.Symlink("loop", filepath.Join(top, "loop")))
	if _, err := Open(filepath.Join(top, "loop"), Rule{}); !errors.Is(err, unix.ELOOP) {
		t.Errorf("a link to itself: %v", err)
	}
}

func TestSharedDirectories(t *testing.T) {
	asRoot(t)
	top := place(t)
	tmp := mkdir(t, filepath.Join(top, "tmp"), 0o777|fs.ModeSticky, 0)
	d, err := Make(filepath.Join(tmp, "new/below"), 0o755, Rule{})
	must(t, err)
	d.Close()
	for path, want := range map[string]fs.FileMode{"new": 0o700, "new/below": 0o755} {
		if info, err := os.Stat(filepath.Join(tmp, path)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, not %v (%v)", path, info.Mode().Perm(), want, err)
		}
	}
	mkdir(t, filepath.Join(tmp, "closed"), 0o755, 0)
	d, err = Open(filepath.Join(tmp, "closed"), Rule{})
	must(t, err)
	d.Close()
	mkdir(t, filepath.Join(tmp, "open"), 0o777, 0)
	mkdir(t, filepath.Join(tmp, "theirs"), 0o700, stranger)
	for _, name := range []string{"open", "theirs"} {
		_, err := Make(filepath.Join(tmp, name, "out"), 0o755, Rule{})
		unsafe(t, err)
	}
	// A group of the owner's own is the owner; another one is others.
	loose := mkdir(t, filepath.Join(top, "loose"), 0o775, 0)
	d, err = Open(loose, Rule{})
	must(t, err)
	d.Close()
	if d.shared() {
		t.Error("root's own group is taken for others")
	}
	must(t, os.Chown(loose, 0, 50))
	if d, err = Make(filepath.Join(loose, "out"), 0o755, Rule{}); err != nil {
		t.Errorf("a group's directory: %v", err)
	} else {
		d.Close()
	}
	// What is handed on by name must stay what it is.
	_, err = Make(filepath.Join(loose, "lasting"), 0o755, Rule{Lasting: true})
	if u := unsafe(t, err); u.At != loose {
		t.Errorf("the wrong component is named: %v", err)
	}
	d, err = Make(filepath.Join(tmp, "lasting"), 0o755, Rule{Lasting: true})
	must(t, err)
	d.Close()
}

func TestFiles(t *testing.T) {
	asRoot(t)
	top := place(t)
	victim := filepath.Join(top, "victim")
	must(t, os.WriteFile(victim, []byte("kept"), 0o600))
	dir := mkdir(t, filepath.Join(top, "dir"), 0o755, stranger)
	must(t, os.Symlink(victim, filepath.Join(dir, "link")), os.Link(victim, filepath.Join(dir, "hard")),
		unix.Mkfifo(filepath.Join(dir, "pipe"), 0o666), os.Mkdir(filepath.Join(dir, "sub"), 0o755),
		os.WriteFile(filepath.Join(dir, "theirs"), nil, 0o666), os.Chown(filepath.Join(dir, "theirs"), 4321, 4321))
	d, err := Open(dir, Rule{Owners: []int{stranger}})
	must(t, err)
	defer d.Close()
	for _, name := range []string{"link", "hard", "pipe", "sub", "theirs", "../victim", "", ".", ".."} {
		if f, err := d.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644); err == nil {
			f.Close()
			t.Errorf("%q was opened for writing", name)
		}
		if _, err := d.Create(name, 0o644); err == nil {
			t.Errorf("%q was made anew", name)
		}
		if err := d.WriteFile(name, []byte("new"), 0o644); err == nil && name != "hard" {
			t.Errorf("%q was replaced", name)
		}
	}
	for _, name := range []string{"link", "pipe"} {
		if _, err := d.ReadFile(name, 10, "a file"); !errors.Is(err, ErrNotRegular) {
			t.Errorf("reading %q: %v", name, err)
		}
	}
	if text, err := os.ReadFile(victim); err != nil || string(text) != "kept" {
		t.Errorf("the victim holds %q (%v)", text, err)
	}
	for range 2 {
		must(t, d.WriteFile("out", []byte("new"), 0o644))
	}
	if text, err := d.ReadFile("out", 10, "a file"); err != nil || string(text) != "new" {
		t.Errorf("out holds %q (%v)", text, err)
	}
	for _, e := range list(t, d) {
		if IsTemp(e, "out") || strings.HasSuffix(e, tempTail) {
			t.Errorf("%s was left behind", e)
		}
	}
}

func list(t *testing.T, d *Dir) []string {
	t.Helper()
	entries, err := d.List()
	must(t, err)
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestGive(t *testing.T) {
	asRoot(t)
	home := mkdir(t, filepath.Join(place(t), "home"), 0o700, stranger)
	d, err := Open(home, Rule{Owners: []int{stranger}})
	must(t, err)
	defer d.Close()
	given, err := d.Mkdir("run", 0o700)
	must(t, err)
	defer given.Close()
	must(t, given.Give(stranger, stranger))
	f, err := given.Create("note", 0o600)
	must(t, err)
	must(t, f.Close())
	if given.Owner() != stranger {
		t.Errorf("it belongs to %d", given.Owner())
	}
	// What is there already is not given away, nor what a link leads to.
	full := mkdir(t, filepath.Join(home, "secret"), 0o700, 0)
	must(t, os.WriteFile(filepath.Join(full, "key"), nil, 0o600), os.Symlink(full, filepath.Join(home, "link")))
	if _, err := d.Mkdir("secret", 0o700); !errors.Is(err, fs.ErrExist) {
		t.Errorf("making what is there: %v", err)
	}
	if _, err := d.MakeSub("link", 0o700); err == nil {
		t.Error("a link was opened as a directory")
	}
	s, err := d.Sub("secret")
	must(t, err)
	defer s.Close()
	if err := s.Give(stranger, stranger); err == nil {
		t.Error("a directory with something in it was given away")
	}
}

func TestRemoveAll(t *testing.T) {
	asRoot(t)
	top := place(t)
	victim := mkdir(t, filepath.Join(top, "victim"), 0o755, 0)
	must(t, os.WriteFile(filepath.Join(victim, "kept"), nil, 0o600))
	tree := mkdir(t, filepath.Join(top, "tree"), 0o700, stranger)
	for i := range 3 * mostNames / 2 {
		must(t, os.WriteFile(filepath.Join(tree, fmt.Sprint(i)), nil, 0o600))
	}
	deep := mkdir(t, filepath.Join(tree, "a/b/c"), 0, stranger)
	must(t, os.Symlink(victim, filepath.Join(tree, "a/link")), os.Symlink(victim, filepath.Join(tree, "zlink")))
	mounted := mkdir(t, filepath.Join(tree, "m/mounted"), 0o755, 0)
	if err := unix.Mount(victim, mounted, "", unix.MS_BIND, ""); err != nil {
		t.Skipf("mounting is not allowed here: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(mounted, unix.MNT_DETACH) })
	d, err := Open(top, Rule{})
	must(t, err)
	defer d.Close()
	for name, remove := range map[string]func() error{
		"in the directory": func() error { return d.RemoveAll("tree") },
		"by its path":      func() error { return RemoveAll(tree) },
		"itself":           func() error { return RemoveAll(mounted) },
	} {
		if err := remove(); !errors.Is(err, ErrMounted) || !strings.Contains(err.Error(), mounted) {
			t.Errorf("%s: a mount in the way: %v", name, err)
		}
	}
	if _, err := os.Stat(filepath.Join(victim, "kept")); err != nil {
		t.Errorf("what a link or a mount leads to is gone: %v", err)
	}
	if _, err := os.Stat(deep); err == nil {
		t.Error("what lies beside the mount is there")
	}
	must(t, unix.Unmount(mounted, unix.MNT_DETACH))
	must(t, d.RemoveAll("tree"))
	must(t, d.RemoveAll("tree"), RemoveAll(tree), RemoveAll(filepath.Join(tree, "none/below")), RemoveAll(""))
	if err := RemoveAll("/"); err == nil {
		t.Error("everything is removed")
	}
	if _, err := os.Lstat(tree); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the tree is there: %v", err)
	}
	// The name itself a link: it goes, and nothing else.
	must(t, os.Symlink(victim, filepath.Join(top, "link")), d.RemoveAll("link"))
	if got := list(t, d); len(got) != 1 || got[0] != "victim" {
		t.Errorf("left are %v", got)
	}
}

// Whoever owns a directory swaps what lies in it as quickly as the kernel can:
// nothing is ever made where a link leads.
func TestSwapped(t *testing.T) {
	asRoot(t)
	top := place(t)
	victim := mkdir(t, filepath.Join(top, "victim"), 0o755, 0)
	theirs := mkdir(t, filepath.Join(top, "theirs"), 0o755, stranger)
	mkdir(t, filepath.Join(theirs, "out"), 0o755, stranger)
	must(t, os.Symlink(victim, filepath.Join(theirs, "link")))
	stop := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				_ = unix.Renameat2(unix.AT_FDCWD, filepath.Join(theirs, "out"), unix.AT_FDCWD, filepath.Join(theirs, "link"), unix.RENAME_EXCHANGE)
			}
		}
	})
	made, tries := 0, 2000
	if testing.Short() {
		tries = 500
	}
	for i := range tries {
		d, err := Make(filepath.Join(theirs, "out", fmt.Sprint(i%7)), 0o755, Rule{Owners: []int{stranger}})
		if err != nil {
			continue
		}
		made++
		must(t, d.WriteFile("file", []byte("x"), 0o600))
		must(t, d.Close())
	}
	close(stop)
	swapper.Wait()
	if left, _ := os.ReadDir(victim); len(left) > 0 {
		t.Errorf("%s lies where the link leads", left[0].Name())
	}
	if made == 0 {
		t.Error("nothing was made at all")
	}
}

// Random trees of directories and links of several owners and modes: whatever
// is opened, every directory from the root to it may lie on the way, told by
// the kernel's own name of it; and what only root could have laid is opened.
func TestRandomWays(t *testing.T) {
	asRoot(t)
	rnd := rand.New(rand.NewPCG(12, 34))
	opened, refused := 0, 0
	for range 40 {
		top := place(t)
		dirs := []string{top}
		var names []string
		for i := range 8 {
			in := dirs[rnd.IntN(len(dirs))]
			path := filepath.Join(in, fmt.Sprint(i))
			if rnd.IntN(4) == 0 && len(dirs) > 1 {
				must(t, os.Symlink(dirs[rnd.IntN(len(dirs))], path))
			} else {
				mode := []fs.FileMode{0o755, 0o700, 0o755, 0o777 | fs.ModeSticky, 0o777}[rnd.IntN(5)]
				mkdir(t, path, mode, []int{0, 0, 0, 1234, stranger}[rnd.IntN(5)])
				dirs = append(dirs, path)
			}
			names = append(names, path)
		}
		rule := Rule{Owners: []int{1234}, Lasting: rnd.IntN(2) == 0}
		for _, path := range names {
			d, err := Make(filepath.Join(path, "new"), 0o755, rule)
			if err != nil {
				var u *UnsafeError
				if !errors.As(err, &u) {
					t.Fatalf("%s: %v", path, err)
				}
				refused++
				continue
			}
			opened++
			real, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", d.fd()))
			must(t, err, d.Close())
			if real != d.Path() {
				t.Fatalf("%s is %s", d.Path(), real)
			}
			for p := real; p != top; p = filepath.Dir(p) {
				info, err := os.Lstat(p)
				must(t, err)
				st := info.Sys().(*unixStat)
				if st.Uid == stranger {
					t.Fatalf("%s leads over %s of a stranger", path, p)
				}
				if above, err := os.Lstat(filepath.Dir(p)); err != nil || above.Mode()&0o022 != 0 && info.Mode()&0o022 != 0 {
					t.Fatalf("%s leads over %s, which others may write to as to what is above it (%v)", path, p, err)
				}
			}
		}
	}
	if opened < 40 || refused < 40 {
		t.Errorf("%d ways opened and %d refused: the trees are too much alike", opened, refused)
	}
}

// An ordinary user goes where the kernel lets them, links and all.
func TestOrdinaryUser(t *testing.T) {
	if os.Geteuid() == 0 {
		asUser(t, "TestOrdinaryUser")
		return
	}
	top := place(t)
	must(t, os.Mkdir(filepath.Join(top, "real"), 0o755), os.Symlink("real", filepath.Join(top, "link")))
	d, err := Make(filepath.Join(top, "link/out"), 0o755, Rule{})
	must(t, err)
	defer d.Close()
	must(t, d.WriteFile("file", []byte("x"), 0o644))
	must(t, os.Symlink("file", filepath.Join(top, "real/out/alias")))
	if _, err := d.OpenFile("alias", os.O_RDWR, 0); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a link in the directory: %v", err)
	}
	if _, err := os.Stat(filepath.Join(top, "real/out/file")); err != nil {
		t.Error(err)
	}
}

// Whatever tells the mount tells the same: of one that is bound it is another than of what
// it was bound from, and a descriptor that is for looking only will do.
func TestMountTellers(t *testing.T) {
	dir := t.TempDir()
	own := openFor(t, dir)
	ids := map[int]string{own: ""}
	bound := filepath.Join(dir, "bound")
	must(t, os.Mkdir(bound, 0o755))
	if err := unix.Mount(dir, bound, "", unix.MS_BIND, ""); err == nil {
		t.Cleanup(func() { _ = unix.Unmount(bound, unix.MNT_DETACH) })
		ids[openFor(t, bound)] = ""
	} else if os.Geteuid() == 0 {
		t.Skip("no mount can be made: ", err)
	}
	for fd := range ids {
		for i, tell := range mountTellers {
			id, err := tell(fd)
			if errors.Is(err, errors.ErrUnsupported) { // this kernel, or this file system
				continue
			}
			if err != nil || ids[fd] != "" && id != ids[fd] {
				t.Errorf("teller %d gives %q, %v, and another one %q", i, id, err, ids[fd])
			}
			ids[fd] = id
		}
	}
	for fd, id := range ids {
		if id == "" || fd != own && id == ids[own] {
			t.Errorf("the mounts are %v", ids)
		}
	}
}

// TestUntold: where the kernel lists no mounts, as gVisor's, directories are removed all
// the same, and what is mounted in one is in the way.
func TestUntold(t *testing.T) {
	before := mountTellers
	t.Cleanup(func() { mountTellers = before })
	mountTellers = []func(int) (string, error){func(int) (string, error) { return mountIn("flags:\t02200000\n") }}
	tree := filepath.Join(t.TempDir(), "tree")
	must(t, RemoveAll(tree), os.MkdirAll(filepath.Join(tree, "a/b"), 0o755), os.WriteFile(filepath.Join(tree, "a/c"), nil, 0o600), RemoveAll(tree))
	if _, err := os.Lstat(tree); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the tree is there: %v", err)
	}
	victim, mounted := t.TempDir(), filepath.Join(tree, "mounted")
	must(t, os.MkdirAll(mounted, 0o755), os.WriteFile(filepath.Join(victim, "kept"), nil, 0o600))
	if err := unix.Mount(victim, mounted, "", unix.MS_BIND, ""); err != nil {
		t.Skipf("mounting is not allowed here: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(mounted, unix.MNT_DETACH) })
	if err := RemoveAll(tree); !errors.Is(err, ErrMounted) {
		t.Errorf("a mount in the way: %v", err)
	}
	if _, err := os.Stat(filepath.Join(victim, "kept")); err != nil {
		t.Errorf("what a mount leads to is gone: %v", err)
	}
}

// openFor opens a directory for looking only.
func openFor(t *testing.T, path string) int {
	t.Helper()
	fd, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	must(t, err)
	t.Cleanup(func() { _ = unix.Close(fd) })
	return fd
}
