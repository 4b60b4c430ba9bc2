//go:build !unit

package vmtest

import (
	"archive/tar"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"plimsoll/internal/common/require"
)

// root is a root file system in the making: contents by absolute path.
type root struct {
	t     *testing.T
	files map[string][]byte
	links map[string]string
}

func newRoot(t *testing.T) *root {
	t.Helper()
	r := &root{t: t, files: map[string][]byte{}, links: map[string]string{}}
	r.files["/bin/busybox"] = static(t, "busybox")
	out, err := exec.Command("busybox", "--list").Output()
	if err != nil {
		t.Fatalf("busybox --list: %v", err)
	}
	for _, name := range strings.Fields(string(out)) {
		if name != "busybox" {
			r.links["/bin/"+name] = "busybox"
		}
	}
	r.text("/etc/passwd", "root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000:user:/home/user:/bin/sh\n")
	r.text("/etc/group", "root:x:0:\nuser:x:1000:\n")
	r.text("/etc/os-release", "ID=vmtest\nPRETTY_NAME=\"a virtual machine of the tests\"\n")
	return r
}

func (r *root) text(path, text string) { r.files[path] = []byte(text) }

// program copies a program of this machine with the libraries that it is
// linked to; false where there is none.
func (r *root) program(name string) bool {
	r.t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		return false
	}
	r.copy(path, "/usr/bin/"+filepath.Base(name))
	out, _ := exec.Command("ldd", path).Output() // fails on static programs
	for line := range strings.Lines(string(out)) {
		for _, word := range strings.Fields(line) {
			if strings.HasPrefix(word, "/") {
				r.copy(word, word)
			}
		}
	}
	return true
}

func (r *root) copy(from, to string) {
	r.t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		r.t.Fatal(err)
	}
	r.files[to] = text
}

// build puts a program of ours there.
func (r *root) build(pkg, to string) {
	r.t.Helper()
	once, _ := compiled.LoadOrStore(pkg, sync.OnceValues(func() ([]byte, error) { return compile(pkg) }))
	text, err := once.(func() ([]byte, error))()
	if err != nil {
		r.t.Fatal(err)
	}
	r.files[to] = text
}

// compiled are the programs by their packages, each for all machines.
var compiled sync.Map

// compile compiles a program without libraries; tests are packages with the suffix
// ".test".
func compile(pkg string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "plimsoll-vmtest-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "program")
	args := []string{"build", "-trimpath", "-ldflags", "-s -w", "-o", out, pkg}
	if p, ok := strings.CutSuffix(pkg, ".test"); ok {
		args = []string{"test", "-c", "-trimpath", "-ldflags", "-s -w", "-o", out, p}
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = "../../.."
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOARCH=amd64", "GOOS=linux")
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, text)
	}
	return os.ReadFile(out)
}

// disk writes the file system as an archive for the machine's first disk.
func (r *root) disk() string {
	r.t.Helper()
	dirs := map[string]bool{}
	for _, d := range []string{"/dev", "/proc", "/sys", "/tmp", "/run", "/var/lib", "/var/tmp", "/root", "/home/user", "/out"} {
		dirs[d] = true
	}
	for _, names := range [][]string{keys(r.files), keys(r.links)} {
		for _, p := range names {
			dirs[filepath.Dir(p)] = true
		}
	}
	for _, d := range keys(dirs) {
		for ; d != "/"; d = filepath.Dir(d) {
			dirs[d] = true
		}
	}
	delete(dirs, "/")
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	put := func(h *tar.Header, text []byte) {
		h.Name = strings.TrimPrefix(h.Name, "/")
		if err := w.WriteHeader(h); err != nil {
			r.t.Fatal(err)
		}
		if _, err := w.Write(text); err != nil {
			r.t.Fatal(err)
		}
	}
	for _, d := range keys(dirs) {
		put(&tar.Header{Name: d + "/", Typeflag: tar.TypeDir, Mode: 0o755}, nil)
	}
	for _, f := range keys(r.files) {
		put(&tar.Header{Name: f, Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(r.files[f]))}, r.files[f])
	}
	for _, l := range keys(r.links) {
		put(&tar.Header{Name: l, Typeflag: tar.TypeSymlink, Linkname: r.links[l]}, nil)
	}
	if err := w.Close(); err != nil {
		r.t.Fatal(err)
	}
	path := filepath.Join(r.t.TempDir(), "disk")
	// A disk is whole sectors.
	write(r.t, path, append(b.Bytes(), make([]byte, (512-b.Len()%512)%512)...))
	return path
}

func keys[V any](m map[string]V) []string {
	var l []string
	for k := range m {
		l = append(l, k)
	}
	slices.Sort(l)
	return l
}

// static reads a program that needs no libraries.
func static(t *testing.T, name string) []byte {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed: lab/engines/vm up installs it", name)
	}
	if exec.Command("ldd", path).Run() == nil {
		t.Skipf("%s needs libraries; one without (package busybox-static) is wanted", path)
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return text
}
