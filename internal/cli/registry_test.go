package cli

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/imagestore"
)

// A registry that wants to know who asks answers; one that is not there does
// not, and is asked once.
func TestRegistries(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	defer server.Close()
	r := &registries{ctx: t.Context(), store: imagestore.NewStore(t.TempDir(), nil, imagestore.Options{}), said: map[string]error{}}
	there := strings.TrimPrefix(server.URL, "http://")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	gone := l.Addr().String()
	require.NoError(t, l.Close())
	for ref, want := range map[string]bool{there + "/alpine:3": true, gone + "/alpine:3": false, gone + "/centos:8": false, "busybox": true, "": true} {
		ok, reason, fix := r.usable(map[string]string{"image": ref})
		if ok != want || !ok && (!strings.Contains(reason, "does not answer") || !strings.Contains(fix, "--image "+ref+"=")) {
			t.Errorf("%q: %v, %q, %q", ref, ok, reason, fix)
		}
	}
	mirror, err := imagestore.ParseMirror(server.URL)
	require.NoError(t, err)
	hub := &registries{ctx: t.Context(), store: r.store, mirror: mirror, said: map[string]error{}}
	if ok, reason, _ := hub.reachable("alpine:3"); !ok || len(hub.said) != 1 {
		t.Errorf("the mirror was not asked in Docker Hub's place: %s, %v", reason, hub.said)
	}
	if len(r.said) != 2 {
		t.Errorf("%d registries were asked", len(r.said))
	}
}
