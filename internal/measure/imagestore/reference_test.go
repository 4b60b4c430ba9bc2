//go:build linux

package imagestore

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/image"
)

// layerOf makes a layer of headers; files hold their own name.
func layerOf(t *testing.T, headers ...tar.Header) v1.Layer {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		if h.Typeflag == tar.TypeReg {
			h.Size = int64(len(h.Name))
		}
		require.NoError(t, w.WriteHeader(&h))
		if h.Typeflag == tar.TypeReg {
			if _, err := io.WriteString(w, h.Name); err != nil {
				t.Fatal(err)
			}
		}
	}
	require.NoError(t, w.Close())
	l, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil })
	require.NoError(t, err)
	return l
}

func dirHeader(n string) tar.Header { return tar.Header{Name: n, Typeflag: tar.TypeDir, Mode: 0o755} }
func file(n string, mode int64) tar.Header {
	return tar.Header{Name: n, Typeflag: tar.TypeReg, Mode: mode}
}
func linkTo(n, to string, kind byte) tar.Header {
	return tar.Header{Name: n, Linkname: to, Typeflag: kind, Mode: 0o777}
}

// put serves an image of these layers and gives its digest.
func put(t *testing.T, ref string, layers ...v1.Layer) string {
	t.Helper()
	img, err := mutate.AppendLayers(empty.Image, layers...)
	require.NoError(t, err)
	cf, err := img.ConfigFile()
	require.NoError(t, err)
	cf = cf.DeepCopy()
	cf.OS, cf.Architecture = "linux", runtime.GOARCH
	if img, err = mutate.ConfigFile(img, cf); err != nil {
		t.Fatal(err)
	}
	r, err := name.ParseReference(ref)
	require.NoError(t, err)
	require.NoError(t, remote.Write(r, img))
	d, err := img.Digest()
	require.NoError(t, err)
	return d.String()
}

// serve gives HOST:PORT of an empty registry, and what stops it.
func serve(t *testing.T) (addr string, stop func()) {
	t.Helper()
	s := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://"), s.Close
}

func TestByReference(t *testing.T) {
	addr, stop := serve(t)
	ref := addr + "/library/alpine:3"
	low := layerOf(t, dirHeader("etc"), file("etc/kept", 0o600), file("etc/gone", 0o644), dirHeader("usr"), dirHeader("usr/lib"),
		linkTo("lib", "usr/lib", tar.TypeSymlink), file("etc/one", 0o644), linkTo("etc/two", "etc/one", tar.TypeLink),
		tar.Header{Name: "dev/null", Typeflag: tar.TypeChar, Mode: 0o666})
	high := layerOf(t, file("etc/.wh.gone", 0), file("lib/through-a-link", 0o755))
	digest := put(t, ref, low, high)

	dir := storeDir(t)
	s := storeIn(t, dir, Options{})
	img := mustGet(t, s, ref)
	if img.Facts["digest"] != digest || img.Facts["reference"] == "" {
		t.Errorf("facts %v, want the digest %s", img.Facts, digest)
	}
	root := mustPath(t, s, ref, image.Directory)
	for p, want := range map[string]string{"/etc/kept": "etc/kept", "/etc/two": "etc/one", "/usr/lib/through-a-link": "lib/through-a-link", image.ProbePath: "the probe", "/etc/passwd": ""} {
		text, err := os.ReadFile(filepath.Join(root, p))
		if err != nil || want != "" && string(text) != want {
			t.Errorf("%s holds %q (%v), want %q", p, text, err, want)
		}
	}
	if info, err := os.Stat(filepath.Join(root, "etc/kept")); err != nil || info.Mode().Perm()&0o044 != 0o044 {
		t.Errorf("an ordinary user's engine can't read %v (%v)", info, err)
	}
	for _, p := range []string{"/etc/gone", "/dev/null"} {
		if exists(filepath.Join(root, p)) {
			t.Errorf("%s is in it", p)
		}
	}
	if tag := s.Tag(ref, "ab12cd34"); strings.Count(tag, ":") != 1 || !strings.HasSuffix(tag, ":ab12cd34") {
		t.Errorf("the tag %s", tag)
	}

	// It stays what it is until it is fetched anew, and needs no registry.
	second := put(t, ref, low)
	if again := mustGet(t, storeIn(t, dir, Options{}), ref); again.Facts["digest"] != digest {
		t.Errorf("without being asked it became %s", again.Facts["digest"])
	}
	newer, err := s.Fetch(t.Context(), ref, io.Discard)
	if err != nil || newer.Facts["digest"] != second || newer.Tree == img.Tree {
		t.Errorf("fetched anew: %+v (%v), want %s", newer, err, second)
	}
	stop()
	if _, err := s.Fetch(t.Context(), ref, io.Discard); err == nil {
		t.Error("it was fetched from a registry that is gone")
	}
	if again := mustGet(t, storeIn(t, dir, Options{}), ref); again.Facts["digest"] != second {
		t.Errorf("after a fetch that failed it is %v", again.Facts)
	}
}

// What a registry gives may not write outside of its own directory.
func TestHostileImage(t *testing.T) {
	addr, _ := serve(t)
	victim := t.TempDir()
	for n, layer := range map[string]v1.Layer{
		"absolute-link":   layerOf(t, linkTo("out", victim, tar.TypeSymlink), file("out/intruder", 0o644)),
		"relative-link":   layerOf(t, linkTo("out", "../../../../../../.."+victim, tar.TypeSymlink), file("out/intruder", 0o644)),
		"dots":            layerOf(t, file("../../../../../../../"+victim+"/intruder", 0o644)),
		"hard-link":       layerOf(t, linkTo("shadow", "/etc/shadow", tar.TypeLink)),
		"file-over-a-dir": layerOf(t, file("a", 0o644), file("a/b", 0o644)),
	} {
		ref := addr + "/hostile/" + n + ":1"
		put(t, ref, layer)
		s := storeIn(t, storeDir(t), Options{})
		root, err := s.Path(t.Context(), ref, image.Directory)
		t.Logf("%s: %v", n, err)
		if exists(filepath.Join(victim, "intruder")) {
			t.Fatalf("%s wrote outside of its directory", n)
		}
		if n == "hard-link" && err == nil && exists(filepath.Join(root, "shadow")) {
			t.Errorf("%s took a file of the host", n)
		}
	}
}

// No registry, no image: quickly, with the reason, and no stand-in.
func TestUnreachable(t *testing.T) {
	s := storeIn(t, storeDir(t), Options{})
	began := time.Now()
	for _, ref := range []string{"127.0.0.1:1/library/alpine:3", "no-such-registry.invalid/alpine:3"} {
		_, err := s.Get(t.Context(), ref)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), ref) || e.Err == nil {
			t.Errorf("%s: %v", ref, err)
		}
	}
	if took := time.Since(began); took > 2*resolveLimit {
		t.Errorf("it took %s to say so", took)
	}
	if _, err := s.Get(t.Context(), "a b:c"); err == nil || !strings.Contains(err.Error(), "is not a reference") {
		t.Errorf("what is not a reference: %v", err)
	}
	if _, err := s.Fetch(t.Context(), "payload", io.Discard); err == nil {
		t.Error("an image of our own came from a registry")
	}
}

// The public registry is reached or refuses within the bounded time.
func TestPublicRegistry(t *testing.T) {
	if testing.Short() {
		t.Skip("asks a public registry: not with -short")
	}
	s := storeIn(t, storeDir(t), Options{})
	began := time.Now()
	img, err := s.Get(t.Context(), "alpine")
	if took := time.Since(began); err != nil && took > 3*resolveLimit {
		t.Errorf("the refusal took %s", took)
	}
	if err == nil {
		if img.Facts["digest"] == "" {
			t.Errorf("alpine without a digest: %+v", img)
		}
		return
	}
	t.Logf("not reachable here: %v", err)
	if !strings.Contains(err.Error(), "docker.io/library/alpine:3") {
		t.Errorf("the refusal does not name the image: %v", err)
	}
}
