//go:build linux

package imagestore

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/image"
)

// kept is a store that all tests share: what debootstrap makes takes a while
// and is the same every time.
func kept(t *testing.T) *Store {
	t.Helper()
	return NewStore(filepath.Join(os.TempDir(), "plimsoll-test-images-"+strconv.Itoa(os.Getuid())), []byte("the probe"), Options{})
}

// built gives a store in which the image has been built, or skips.
func built(t *testing.T, name string) *Store {
	t.Helper()
	if testing.Short() {
		t.Skip("an image of hundreds of megabytes: left out with -short")
	}
	s := kept(t)
	if _, err := s.Get(t.Context(), name); err == nil {
		return s
	}
	if _, err := s.mayBootstrap(name); err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var said bytes.Buffer
	if _, err := s.Build(ctx, name, &said); err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	return s
}

func TestDebian(t *testing.T) {
	s := built(t, "debian")
	img := mustGet(t, s, "debian")
	if img.Bytes < 50<<20 || img.Bytes > 300<<20 {
		t.Errorf("%d bytes is no minimal Debian", img.Bytes)
	}
	for _, k := range []string{"distribution", "suite", "packages", "packages-digest", "package-libc6"} {
		if img.Facts[k] == "" {
			t.Errorf("the fact %s is missing in %v", k, img.Facts)
		}
	}
	dir := mustPath(t, s, "debian", image.Directory)
	for _, p := range []string{image.ProbePath, "/usr/bin/dpkg", "/etc/debian_version", "/run/.containerenv", "/etc/resolv.conf"} {
		if !exists(filepath.Join(dir, p)) {
			t.Errorf("%s is not in it", p)
		}
	}
	for _, p := range []string{"/debootstrap", "/dev/null", "/etc/machine-id", "/var/cache/apt/archives/partial/x"} {
		if exists(filepath.Join(dir, p)) {
			t.Errorf("%s is in it", p)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "etc/resolv.conf")); err != nil || len(text) != 0 {
		t.Errorf("/etc/resolv.conf is the host's: %q %v", text, err)
	}
	layout, err := OnlyImage(mustPath(t, s, "debian", image.OCILayout))
	require.NoError(t, err)
	layers, err := layout.Layers()
	if err != nil || len(layers) != 2 {
		t.Errorf("%d layers (%v), want the system and the probe", len(layers), err)
	}
}

// A base that was tampered with is not used.
func TestDamagedBase(t *testing.T) {
	s := storeIn(t, storeDir(t), Options{})
	src := t.TempDir()
	write(t, filepath.Join(src, "file"), "content")
	fill := func(context.Context, string) (tree, base, error) {
		tr, err := readTree(src, nil)
		return tr, base{Facts: map[string]string{"a": "b"}}, err
	}
	var progress bytes.Buffer
	require.NoError(t, s.makeBase(t.Context(), "x", &progress, anyBase, fill))
	if _, b, err := s.readBase("x"); err != nil || b.Facts["a"] != "b" {
		t.Fatalf("%+v %v", b, err)
	}
	write(t, filepath.Join(s.baseDir("x"), "rootfs", "file"), "contenT")
	if _, _, err := s.readBase("x"); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a damaged base was read: %v", err)
	}
	require.NoError(t, s.makeBase(t.Context(), "x", &progress, anyBase, fill))
	if _, _, err := s.readBase("x"); err != nil {
		t.Errorf("made anew: %v", err)
	}
	if _, _, err := s.readBase("y"); !errors.Is(err, errNoBase) {
		t.Errorf("a base that was never made: %v", err)
	}
}

// Without what it needs, an image says so, and what would help.
func TestWhatBuildingNeeds(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		require.NoError(t, os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
	}
	none := func(string) (string, error) { return "", errors.New("not found") }
	write("etc/os-release", "ID=fedora\nPRETTY_NAME=\"Fedora Linux 42\"\n")
	s := storeIn(t, storeDir(t), Options{Root: root, LookPath: none})
	build := func(name, want, fix string) {
		t.Helper()
		var progress bytes.Buffer
		_, err := s.Build(t.Context(), name, &progress)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) || e.Fix != fix {
			t.Errorf("building %s: %v (fix %q), want %q and the fix %q", name, err, e.Fix, want, fix)
		}
	}
	build("debian", "Fedora Linux 42", "")
	write("etc/os-release", "ID=ubuntu\nVERSION_CODENAME=noble\nPRETTY_NAME=\"Ubuntu 24.04 LTS\"\n")
	build("ubuntu-base", "no apt source", "")
	write("etc/apt/sources.list.d/ubuntu.sources", "Types: deb\nURIs: http://127.0.0.1:1/ubuntu\nSuites: noble noble-updates\nComponents: main universe\nSigned-By: /usr/share/keyrings/ubuntu.gpg\n")
	build("debian", "make the image ubuntu-base", "")
	build("ubuntu-base", "no debootstrap", "apt-get install debootstrap")
	if _, err := s.Get(t.Context(), "toolbox"); err == nil || !strings.Contains(err.Error(), "no debootstrap") {
		t.Errorf("what was never built: %v", err)
	}
}

// An archive that can't be reached is told, and nothing stays behind.
func TestOffline(t *testing.T) {
	s := storeIn(t, storeDir(t), Options{})
	if _, err := s.mayBootstrap("debian"); err != nil {
		t.Skip(err)
	}
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "etc/apt"), 0o755))
	write(t, filepath.Join(root, "etc/os-release"), "ID=debian\nVERSION_CODENAME=bookworm\nPRETTY_NAME=Debian\n")
	write(t, filepath.Join(root, "etc/apt/sources.list"), "deb [arch=amd64] http://127.0.0.1:1/debian bookworm main\n")
	s = storeIn(t, storeDir(t), Options{Root: root})
	var progress bytes.Buffer
	_, err := s.Build(t.Context(), "debian", &progress)
	if err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("an archive that is not there: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(s.baseDir("debian")), "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(s.baseDir("debian")), ".new*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestPackages(t *testing.T) {
	const status = "Package: a\nStatus: install ok installed\nVersion: 1:2-3\nDepends: b\n\nPackage: b\nStatus: deinstall ok config-files\nVersion: 4\n"
	if got := packages(status); len(got) != 1 || got["a"] != "1:2-3" {
		t.Errorf("%v", got)
	}
}

func TestSourcesOfThirdPartiesAreNotTaken(t *testing.T) {
	if s := parseList("deb https://tools.example/apt tools-noble main\n# deb http://x noble main\ndeb [signed-by=/k.gpg arch=amd64] http://mirror.example/ubuntu noble main universe\n", "noble"); s.uri != "http://mirror.example/ubuntu" || s.keyring != "/k.gpg" {
		t.Errorf("%+v", s)
	}
	if s := parseSources("Types: deb\nURIs: http://other.example\nSuites: nodistro\nComponents: main\n\nEnabled: no\nTypes: deb\nURIs: http://off.example\nSuites: noble\nComponents: main\n\nTypes: deb\n# a remark\nURIs: http://mirror.example\nSuites: noble\nComponents: main\n", "noble"); s.uri != "http://mirror.example" {
		t.Errorf("%+v", s)
	}
}

func TestLayers(t *testing.T) {
	f := func(p, text string) entry { return entry{path: p, kind: kindFile, mode: 0o644, data: []byte(text)} }
	d := func(p string) entry { return entry{path: p, kind: kindDir, mode: 0o755} }
	low := tree{d("/"), d("/a"), f("/a/gone", "x"), f("/a/kept", "k"), f("/b", "1"), d("/c"), f("/c/x", "x")}
	whole := tree{d("/"), d("/a"), f("/a/kept", "k"), f("/b", "2"), f("/new", "n")}
	top := over(low, whole)
	var got []string
	for _, e := range top {
		got = append(got, string(e.kind)+e.path)
	}
	if s := strings.Join(got, " "); s != "w/a/gone f/b w/c f/new" {
		t.Errorf("the layer has %s", s)
	}
	if c := contentOf(nil, low, top); c.digest() != whole.digest() {
		t.Errorf("laid over each other they are %v", c.tree)
	}
}

// The toolbox has all that workloads run, and nothing of one machine's.
func TestToolbox(t *testing.T) {
	s := built(t, "toolbox")
	img := mustGet(t, s, "toolbox")
	if img.Bytes > 450<<20 {
		t.Errorf("%d bytes: every engine copies it", img.Bytes)
	}
	dir := mustPath(t, s, "toolbox", image.Directory)
	for _, p := range []string{"sysbench", "iperf3", "fio", "sqlite3", "openssl", "7z", "redis-server", "redis-benchmark", "ping", "stress-ng",
		"python3", "mpirun", "ab", "wrk", "sockperf", "pgbench", "psql", "setpriv", "tar"} {
		if !exists(filepath.Join(dir, "usr/bin", p)) && !exists(filepath.Join(dir, "bin", p)) {
			t.Errorf("%s is not in it", p)
		}
	}
	for _, p := range []string{"/usr/sbin/nginx", "/usr/sbin/apache2", "/usr/sbin/runuser", "/usr/lib/postgresql/15/bin/postgres", "/opt/plimsoll/python-suite.py"} {
		if !exists(filepath.Join(dir, p)) {
			t.Errorf("%s is not in it", p)
		}
	}
	for _, p := range append([]string{"/etc/apt/apt.conf", "/dev/null", "/proc/self"}, toolboxLeftOut...) {
		if exists(filepath.Join(dir, p)) {
			t.Errorf("%s is in it", p)
		}
	}
	for _, p := range toolboxPackages {
		if img.Facts["package-"+p] == "" {
			t.Errorf("the version of %s is not told", p)
		}
	}
	// All files have one time, so what Python has compiled must not ask for it.
	compiled, err := filepath.Glob(filepath.Join(dir, "usr/lib/python3*/__pycache__/json*.pyc"))
	more, err2 := filepath.Glob(filepath.Join(dir, "usr/lib/python3*/json/__pycache__/*.pyc"))
	compiled = append(compiled, more...)
	if err != nil || err2 != nil || len(compiled) == 0 {
		t.Fatalf("nothing is compiled: %v %v", err, err2)
	}
	for _, p := range compiled {
		text, err := os.ReadFile(p)
		if err != nil || len(text) < 16 || text[4] != 1 {
			t.Errorf("%s is checked against its source's time (%v)", p, err)
		}
	}
	low, err := OnlyImage(mustPath(t, s, "debian", image.OCILayout))
	require.NoError(t, err)
	high, err := OnlyImage(mustPath(t, s, "toolbox", image.OCILayout))
	require.NoError(t, err)
	a, err := low.Layers()
	require.NoError(t, err)
	b, err := high.Layers()
	if err != nil || len(b) != 3 {
		t.Fatalf("%d layers (%v), want the system, the packages and the probe", len(b), err)
	}
	x, err := a[0].Digest()
	require.NoError(t, err)
	if y, err := b[0].Digest(); err != nil || x != y {
		t.Errorf("debian and toolbox share no layer: %v %v %v", x, y, err)
	}
}

// What was left out of the toolbox is asked for by nothing that is in it.
func TestToolboxIsComplete(t *testing.T) {
	dir := mustPath(t, built(t, "toolbox"), "toolbox", image.Directory)
	have, wanted := map[string]bool{}, map[string]string{}
	err := filepath.WalkDir(filepath.Join(dir, "usr"), func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		have[d.Name()] = true
		if !d.Type().IsRegular() {
			return nil
		}
		f, err := elf.Open(p)
		if err != nil {
			return nil //nolint:nilerr // it is no program
		}
		defer f.Close()
		libraries, err := f.ImportedLibraries()
		for _, l := range libraries {
			wanted[l] = strings.TrimPrefix(p, dir)
		}
		return err
	})
	if err != nil || len(wanted) < 50 {
		t.Fatalf("%d libraries are wanted (%v)", len(wanted), err)
	}
	for l, by := range wanted {
		// A plug-in of iproute2's whose library is only recommended.
		if !have[l] && l != "libatm.so.1" {
			t.Errorf("%s wants %s, which is not there", by, l)
		}
	}
}

// A base of another store is read where this one has none, unless others could
// have written it.
func TestBaseOfAnotherStore(t *testing.T) {
	from := storeIn(t, storeDir(t), Options{})
	src := t.TempDir()
	write(t, filepath.Join(src, "file"), "content")
	fill := func(facts string) func(context.Context, string) (tree, base, error) {
		return func(context.Context, string) (tree, base, error) {
			tr, err := readTree(src, nil)
			return tr, base{Facts: map[string]string{"a": facts}}, err
		}
	}
	var progress bytes.Buffer
	require.NoError(t, from.makeBase(t.Context(), "x", &progress, anyBase, fill("theirs")))
	s := storeIn(t, storeDir(t), Options{From: from.dir})
	tr, b, err := s.readBase("x")
	if err != nil || b.Facts["a"] != "theirs" || len(tr) == 0 {
		t.Errorf("%v %+v %v", tr, b, err)
	}
	if exists(s.baseDir("x")) {
		t.Error("it was copied")
	}
	require.NoError(t, s.makeBase(t.Context(), "x", &progress, func(b base) bool { return b.Facts["a"] == "ours" }, fill("ours")))
	if _, b, err := s.readBase("x"); err != nil || b.Facts["a"] != "ours" {
		t.Errorf("%+v %v", b, err)
	}
	if _, b, err := from.readBase("x"); err != nil || b.Facts["a"] != "theirs" {
		t.Errorf("the other store was changed: %+v %v", b, err)
	}
	open := storeIn(t, storeDir(t), Options{From: from.dir})
	require.NoError(t, os.Chmod(from.dir, 0o777))
	if _, _, err := open.readBase("x"); !errors.Is(err, errNoBase) {
		t.Errorf("a store that everybody can write to was read: %v", err)
	}
}
