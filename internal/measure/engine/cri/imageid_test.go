package cri

import (
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine/imagetest"
)

// The fact image-id is the same in each run, in whichever way a server names
// the image of a container.
func TestImageID(t *testing.T) {
	kit := imagetest.Kit(t)
	ids := map[string]bool{}
	for _, run := range []string{"aaaaaaaa", "bbbbbbbb"} {
		other := *kit
		other.RunID = run
		s, err := serveImage(t.Context(), &other, "payload")
		require.NoError(t, err)
		defer s.close()
		if len(s.known.digests) != 2 || s.known.digests[0] != s.config {
			t.Fatalf("known by %v, served %s", s.known.digests, s.config)
		}
		name, _, _ := strings.Cut(s.ref, ":"+run)
		for _, ref := range []string{s.config, "sha256:" + s.config, name + "@sha256:" + s.known.digests[1]} {
			ids[s.known.id(ref)] = true
		}
		if other := "docker.io/library/x@sha256:" + strings.Repeat("0", 64); s.known.id(other) != other {
			t.Errorf("another image is called %s", s.known.id(other))
		}
	}
	if len(ids) != 1 {
		t.Errorf("one image has the ids %v", ids)
	}
	for id := range ids {
		if !strings.HasPrefix(id, "sha256:") || len(id) != len("sha256:")+64 {
			t.Errorf("the id %q is no digest", id)
		}
	}
}
