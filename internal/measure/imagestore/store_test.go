//go:build linux

package imagestore

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/image"
)

// static is a statically linked program of the host, for images that are run.
func static(t *testing.T) []byte {
	t.Helper()
	file, err := exec.LookPath("busybox")
	if err != nil {
		t.Skip("no busybox on this machine: ", busyBoxFix)
	}
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	if err := mustBeStatic(data); err != nil {
		t.Skip(file, ": ", err)
	}
	return data
}

func storeIn(t *testing.T, dir string, opts Options) *Store {
	t.Helper()
	return NewStore(dir, []byte("the probe"), opts)
}

// storeDir is a directory that a store accepts, whatever the umask.
func storeDir(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "images")
}

func mustPath(t *testing.T, s *Store, name string, f image.Format) string {
	t.Helper()
	p, err := s.Path(t.Context(), name, f)
	require.NoError(t, err)
	return p
}

func mustGet(t *testing.T, s *Store, name string) image.Image {
	t.Helper()
	img, err := s.Get(t.Context(), name)
	require.NoError(t, err)
	return img
}

// The tree digest is recorded with every result: a change of the skeleton or
// of the definition must be meant.
func TestTreeDigestOfPayload(t *testing.T) {
	const want = "sha256:6c0f5938aa5fe9a3bd70bfbeb7f801be739180ab7a2d4606c41deb51a79f4cf7"
	img := mustGet(t, storeIn(t, storeDir(t), Options{}), "payload")
	if img.Tree != want {
		t.Errorf("tree digest %s, want %s", img.Tree, want)
	}
	if !strings.HasPrefix(img.Digest, "sha256:") || img.Name != "payload" || img.Bytes < int64(len("the probe")) {
		t.Errorf("odd image %+v", img)
	}
}

func TestSameInputSameBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("makes every format of an image: left out with -short")
	}
	static(t)
	a, b := storeIn(t, storeDir(t), Options{}), storeIn(t, storeDir(t), Options{})
	for _, name := range []string{"payload", "busybox"} {
		if x, y := mustGet(t, a, name), mustGet(t, b, name); !reflect.DeepEqual(x, y) {
			t.Errorf("%+v and %+v", x, y)
		}
		formats := []image.Format{image.OCILayout, image.DockerArchive, image.Directory}
		if _, err := exec.LookPath("mksquashfs"); err == nil {
			formats = append(formats, image.SquashFS)
		} else {
			t.Log("SquashFS is left out:", err)
		}
		for _, f := range formats {
			x, err := itemSum(mustPath(t, a, name, f), f)
			require.NoError(t, err)
			y, err := itemSum(mustPath(t, b, name, f), f)
			require.NoError(t, err)
			if x != y {
				t.Errorf("%s as %s: %s and %s", name, f, x, y)
			}
		}
	}
	other := NewStore(storeDir(t), []byte("another probe"), Options{})
	if x, y := mustGet(t, a, "payload"), mustGet(t, other, "payload"); x.Tree == y.Tree || x.Digest == y.Digest {
		t.Errorf("another probe gives the same image: %+v and %+v", x, y)
	}
}

func TestTag(t *testing.T) {
	s := storeIn(t, storeDir(t), Options{RunID: "ab12cd34"})
	if got := s.Tag("payload", "ab12cd34"); got != "localhost/plimsoll/payload:ab12cd34" {
		t.Error(got)
	}
}

func TestDockerArchiveIsTheRuns(t *testing.T) {
	dir := storeDir(t)
	s := storeIn(t, dir, Options{RunID: "ab12cd34"})
	p := mustPath(t, s, "payload", image.DockerArchive)
	if !within(filepath.Join(dir, "runs", "ab12cd34"), p) {
		t.Errorf("%s is not the run's own", p)
	}
	require.NoError(t, s.Close())
	if _, err := os.Stat(filepath.Join(dir, "runs")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the run's archive is left: %v", err)
	}
	if p := mustPath(t, s, "payload", image.DockerArchive); !exists(p) {
		t.Errorf("after Close the store gives %s, which is not there", p)
	}
	if err := s.Forget("../.."); err == nil {
		t.Error("Forget took a path for an id")
	}
	if err := s.Forget(""); err != nil || exists(p) {
		t.Errorf("Forget of all runs left %s (%v)", p, err)
	}
	bad := storeIn(t, dir, Options{RunID: "../x"})
	if _, err := bad.Path(t.Context(), "payload", image.DockerArchive); err == nil {
		t.Error("a path was taken for a run's id")
	}
}

func TestDamageIsNoticed(t *testing.T) {
	dir := storeDir(t)
	want := mustGet(t, storeIn(t, dir, Options{}), "payload")
	damage := map[string]func(t *testing.T, p string){
		"a new file in it": func(t *testing.T, p string) { write(t, filepath.Join(p, "intruder"), "x") },
		"a changed file": func(t *testing.T, p string) {
			write(t, filepath.Join(p, "plimsoll-probe"), "evil")
		},
		"it is gone":       func(t *testing.T, p string) { remove(t, p) },
		"the seal is gone": func(t *testing.T, p string) { remove(t, p+".seal") },
		"a killed builder's rest": func(t *testing.T, p string) {
			remove(t, p)
			write(t, filepath.Join(filepath.Dir(p), ".new-rootfs-rest"), "x")
		},
		"the seal is torn": func(t *testing.T, p string) { write(t, p+".seal", `{"sum`) },
	}
	for name, do := range damage {
		t.Run(name, func(t *testing.T) {
			p := mustPath(t, storeIn(t, dir, Options{}), "payload", image.Directory)
			do(t, p)
			again := mustPath(t, storeIn(t, dir, Options{}), "payload", image.Directory)
			if got, err := treeDigest(again, nil); err != nil || got != want.Tree {
				t.Errorf("after it: %s %v, want %s", got, err, want.Tree)
			}
			if rest := filepath.Join(filepath.Dir(p), ".new-rootfs-rest"); exists(rest) {
				t.Errorf("%s is still there", rest)
			}
		})
	}
	t.Run("the layout", func(t *testing.T) {
		p := mustPath(t, storeIn(t, dir, Options{}), "payload", image.OCILayout)
		write(t, filepath.Join(p, "index.json"), "{}")
		if got := mustGet(t, storeIn(t, dir, Options{}), "payload"); !reflect.DeepEqual(got, want) {
			t.Errorf("after it: %+v, want %+v", got, want)
		}
		if _, err := OnlyImage(p); err != nil {
			t.Error(err)
		}
	})
}

func remove(t *testing.T, p string) {
	t.Helper()
	require.NoError(t, os.RemoveAll(p))
}

func write(t *testing.T, file, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
}

func TestManyAtOnce(t *testing.T) {
	dir := storeDir(t)
	var wg sync.WaitGroup
	for range 8 {
		s := storeIn(t, dir, Options{})
		for _, f := range []image.Format{image.OCILayout, image.DockerArchive, image.Directory} {
			wg.Go(func() {
				if _, err := s.Path(t.Context(), "payload", f); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	left, err := filepath.Glob(filepath.Join(dir, "v*", "*", ".new-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left over: %v %v", left, err)
	}
}

func TestWaitingForTheLockEnds(t *testing.T) {
	dir := storeDir(t)
	holder := storeIn(t, dir, Options{})
	unlock, err := holder.lock(t.Context())
	require.NoError(t, err)
	defer unlock()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = storeIn(t, dir, Options{}).Path(ctx, "payload", image.Directory)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// Different items are made at the same time, one item by one process.
func TestAnItemsLock(t *testing.T) {
	s := storeIn(t, storeDir(t), Options{})
	img := mustGet(t, s, "payload")
	p := filepath.Join(s.dir, "v"+strconv.Itoa(cacheVersion), "payload-"+strings.TrimPrefix(img.Tree, "sha256:")[:16], "rootfs")
	unlock, err := s.lockItem(t.Context(), p)
	require.NoError(t, err)
	mustPath(t, s, "payload", image.DockerArchive)
	made := make(chan error, 1)
	go func() {
		_, err := s.Path(t.Context(), "payload", image.Directory)
		made <- err
	}()
	select {
	case err := <-made:
		t.Errorf("a locked item was made (%v)", err)
	case <-time.After(100 * time.Millisecond):
	}
	unlock()
	if err := <-made; err != nil {
		t.Error(err)
	}
}

func TestMissingToolsSayWhatHelps(t *testing.T) {
	s := storeIn(t, storeDir(t), Options{LookPath: func(name string) (string, error) {
		return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
	}})
	for f, name := range map[image.Format]string{image.SquashFS: "payload", image.SIF: "payload", image.OCILayout: "busybox"} {
		_, err := s.Path(t.Context(), name, f)
		var e *Error
		if !errors.As(err, &e) || e.Fix == "" || !errors.Is(err, exec.ErrNotFound) {
			t.Errorf("%s as %s: %v", name, f, err)
		}
	}
	var e *Error
	if _, err := s.Path(t.Context(), "nonesuch", image.Directory); !errors.As(err, &e) || !strings.Contains(err.Error(), "payload, busybox") {
		t.Errorf("unknown image: %v", err)
	}
	if _, err := s.Path(t.Context(), "payload", "zip"); !errors.As(err, &e) {
		t.Errorf("unknown format: %v", err)
	}
	if _, err := NewStore(storeDir(t), nil, Options{}).Get(t.Context(), "payload"); !errors.As(err, &e) {
		t.Errorf("empty probe: %v", err)
	}
}

func TestAFailingToolIsQuoted(t *testing.T) {
	fake := filepath.Join(t.TempDir(), "mksquashfs")
	require.NoError(t, os.WriteFile(fake, []byte("#!/bin/sh\necho disk is full >&2\nexit 3\n"), 0o755))
	dir := storeDir(t)
	s := storeIn(t, dir, Options{LookPath: func(string) (string, error) { return fake, nil }})
	_, err := s.Path(t.Context(), "payload", image.SquashFS)
	if err == nil || !strings.Contains(err.Error(), "disk is full") {
		t.Errorf("got %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "v*", "*", ".new-*")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

// Nobody else comes into the store, whatever the umask, and what it holds is
// the same.
func TestTheStoreIsClosed(t *testing.T) {
	dir := storeDir(t)
	for _, umask := range []int{0o077, 0} {
		old := syscall.Umask(umask)
		defer syscall.Umask(old)
		s := storeIn(t, dir, Options{RunID: "ab12cd34"})
		for _, f := range []image.Format{image.OCILayout, image.DockerArchive, image.Directory} {
			p := mustPath(t, s, "payload", f)
			first, _, _ := strings.Cut(strings.TrimPrefix(p, dir+"/"), "/")
			if info, err := os.Stat(filepath.Join(dir, first)); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("payload as %s: %s has mode %v (%v)", f, first, info.Mode(), err)
			}
		}
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != gate() || info.Mode()&0o044 != 0 {
			t.Errorf("the store has mode %v (%v)", info.Mode(), err)
		}
		if got, err := treeDigest(mustPath(t, s, "payload", image.Directory), nil); err != nil || got != mustGet(t, s, "payload").Tree {
			t.Errorf("the umask is in the tree: %s %v", got, err)
		}
		require.NoError(t, os.RemoveAll(dir))
	}
}

func TestAStoreThatOthersCanWriteToIsRefused(t *testing.T) {
	dir := storeDir(t)
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, os.Chmod(dir, 0o777))
	var e *Error
	if _, err := storeIn(t, dir, Options{}).Get(t.Context(), "payload"); !errors.As(err, &e) || e.Fix == "" {
		t.Errorf("got %v", err)
	}
}

// What is unpacked runs, with nothing but what the image has.
func TestBusyBoxRuns(t *testing.T) {
	static(t)
	if os.Geteuid() != 0 {
		t.Skip("needs root, to chroot")
	}
	s := storeIn(t, storeDir(t), Options{})
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", "test -x /plimsoll-probe && ls /etc && id -un")
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: mustPath(t, s, "busybox", image.Directory)}
	cmd.Dir, cmd.Env = "/", []string{insidePath}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.HasSuffix(string(out), "resolv.conf\nroot\n") {
		t.Errorf("%v: %s", err, out)
	}
}

// The manual lists every image and every format.
func TestCatalogueIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../docs/images.md")
	require.NoError(t, err)
	for _, d := range always() {
		if d.What == "" || d.How == "" {
			t.Errorf("%+v is not described", d)
		}
		if !strings.Contains(string(text), "| `"+d.Name+"` | "+d.What+" | ") {
			t.Errorf("the manual has no row for %s as described", d.Name)
		}
	}
	for f := range baseNames {
		if !strings.Contains(string(text), "| `"+string(f)+"` |") {
			t.Errorf("the manual has no row for the format %s", f)
		}
	}
	if len(List()) == 0 {
		t.Error("the catalogue is empty")
	}
}

// always lists the images that need nothing made on demand.
func always() []Description {
	var l []Description
	for _, r := range recipes {
		if r.bases == nil && r.ref == "" {
			l = append(l, r.Description)
		}
	}
	return l
}
