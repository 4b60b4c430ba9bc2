//go:build linux

package imagestore

import (
	"testing"

	"github.com/google/go-containerregistry/pkg/name"

	"plimsoll/internal/common/require"
)

// Docker Hub's images come from the mirror, and say so; no others do.
func TestMirror(t *testing.T) {
	addr, stop := serve(t)
	defer stop()
	digest := put(t, addr+"/hub/library/proto:3", layerOf(t, dirHeader("etc"), file("etc/motd", 0o644)))
	m, err := ParseMirror("http://" + addr + "/hub/")
	require.NoError(t, err)
	img := mustGet(t, storeIn(t, t.TempDir(), Options{Mirror: m}), "proto:3")
	if img.Facts["digest"] != digest || img.Facts["reference"] != "index.docker.io/library/proto:3" || img.Facts["mirror"] != addr+"/hub/library/proto:3" {
		t.Errorf("%v", img.Facts)
	}
	for ref, want := range map[string]string{
		"alpine":                 addr + "/hub/library/alpine:latest",
		"docker.io/some/thing:1": addr + "/hub/some/thing:1",
		"quay.io/some/thing:1":   "quay.io/some/thing:1",
		"alpine@sha256:9b71d224bd62f3785d96d46ad3ea3d73319bfbc2890caadae2dff72519673ca7": addr + "/hub/library/alpine@sha256:9b71d224bd62f3785d96d46ad3ea3d73319bfbc2890caadae2dff72519673ca7",
	} {
		parsed, err := name.ParseReference(ref)
		require.NoError(t, err)
		got, err := m.Of(parsed)
		if err != nil || got.Name() != want {
			t.Errorf("%s: %v, %v, expected %s", ref, got, err, want)
		}
	}
	none, err := ParseMirror("")
	require.NoError(t, err)
	if got, err := none.Of(name.MustParseReference("alpine")); err != nil || got.Name() != "index.docker.io/library/alpine:latest" {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"mirror.example", "ftp://x", "https://", "https://u:p@x", "https://x/UPPER case", "https://x?y"} {
		if m, err := ParseMirror(bad); err == nil {
			t.Errorf("%s is a mirror: %+v", bad, m)
		}
	}
}
