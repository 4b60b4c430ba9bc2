package portable

import (
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
)

// registryOf is somebody's registry, which answers a request with the status that refuse
// gives; 0 refuses nothing.
func registryOf(t *testing.T, refuse func(*http.Request) int) http.Handler {
	t.Helper()
	inner := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if refuse != nil {
			if status := refuse(req); status != 0 {
				http.Error(w, "no", status)
				return
			}
		}
		inner.ServeHTTP(w, req)
	})
}

// deletesWith is a repository of one that answers with these statuses who deletes by digest
// and by tag.
func deletesWith(t *testing.T, byDigest, byTag int) name.Repository {
	t.Helper()
	s := httptest.NewServer(registryOf(t, func(req *http.Request) int {
		switch {
		case req.Method != http.MethodDelete:
			return 0
		case strings.Contains(req.URL.Path, "sha256:"):
			return byDigest
		}
		return byTag
	}))
	t.Cleanup(s.Close)
	repo, err := repository(strings.TrimPrefix(s.URL, "http://") + "/scratch")
	require.NoError(t, err)
	return repo
}

// putImage puts an image under a tag and gives its digest.
func putImage(t *testing.T, tag name.Tag) string {
	t.Helper()
	img, err := random.Image(64, 1)
	require.NoError(t, err)
	require.NoError(t, remote.Write(tag, img))
	d, err := img.Digest()
	require.NoError(t, err)
	return d.String()
}

// A run's tag goes, by its digest; another's stays, under the same name too.
func TestRemoveTag(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	there := func(tag name.Tag) bool {
		_, err := remote.Head(tag)
		if err != nil && statusOf(err) != http.StatusNotFound {
			t.Fatal(err)
		}
		return err == nil
	}
	repo := deletesWith(t, 0, 0)
	ours, other := repo.Tag("abcd1234-payload"), repo.Tag("latest")
	digest := putImage(t, ours)
	putImage(t, other)
	named := ours.Name() + "@" + digest
	require.NoError(t, removeTag(t.Context(), named, newLogins()))
	if there(ours) || !there(other) {
		t.Errorf("ours is there: %v, another's: %v", there(ours), there(other))
	}
	require.NoError(t, removeTag(t.Context(), named, newLogins())) // what is gone is gone
	putImage(t, ours)                                              // somebody else's now
	require.NoError(t, removeTag(t.Context(), named, newLogins()))
	if !there(ours) {
		t.Error("a tag that leads elsewhere was removed")
	}
	if err := removeTag(t.Context(), "no digest", newLogins()); err == nil {
		t.Error("a name without a digest is taken")
	}
}

// A registry that deletes nothing, or not for this user, is told apart from one that fails
// once: the first is told what to do, the second tried again.
func TestRegistryKeeps(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	const passes = http.StatusInsufficientStorage // not one that the library tries again
	for _, c := range []struct {
		byDigest, byTag int
		kept            bool
	}{
		{400, 400, true}, {401, 401, true}, {403, 403, true}, {405, 405, true}, {409, 409, true}, {412, 412, true}, {405, 400, true},
		{passes, passes, false}, {passes, 405, false}, {405, passes, false},
	} {
		tag := deletesWith(t, c.byDigest, c.byTag).Tag("abcd1234-payload")
		digest := putImage(t, tag)
		err := removeTag(t.Context(), tag.Name()+"@"+digest, newLogins())
		if err == nil || errors.Is(err, errKeeps) != c.kept {
			t.Errorf("%d by digest, %d by tag: %v", c.byDigest, c.byTag, err)
			continue
		}
		if text := err.Error(); c.kept && (!strings.Contains(text, tag.Name()) || !strings.Contains(text, digest) || !strings.Contains(text, "docker login "+tag.RegistryStr())) {
			t.Errorf("%d: nobody knows what to do: %s", c.byDigest, text)
		}
	}
	// One that wants the tag deleted, and not the manifest.
	tag := deletesWith(t, 405, 0).Tag("abcd1234-payload")
	require.NoError(t, removeTag(t.Context(), tag.Name()+"@"+putImage(t, tag), newLogins()))
}

// After a kill such a tag is told once, and nothing is tried again because of it, also where
// something else stays.
func TestCleanOfKeeper(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	tag := deletesWith(t, 405, 405).Tag("abcd1234-payload")
	kept := engine.Thing{Kind: kindTag, Name: tag.Name() + "@" + putImage(t, tag), Engine: tag.RegistryStr(), At: tag.RegistryStr()}
	lost := engine.Thing{Kind: engine.KindImage, Name: loaded + "payload:abcd1234", Engine: Docker, At: "nowhere"}
	dir := t.TempDir()
	l, err := NewLedger(dir, "abcd1234")
	require.NoError(t, err)
	require.NoError(t, errors.Join(l.Made(kept), l.Made(lost), l.Close()))
	s := Surroundings{}
	for round, want := range [][]engine.Thing{{lost, kept}, {lost}} {
		all, err := s.Clean(t.Context(), dir)
		require.NoError(t, err)
		if len(all) != len(want) {
			t.Fatalf("round %d: %+v", round, all)
		}
		for i, c := range all {
			if c.Thing != want[i] || (c.Thing == kept) != (c.Left != "") || (c.Thing == lost) != (c.Kept != "") {
				t.Errorf("round %d: %+v, want %v", round, c, want[i])
			}
		}
	}
	l, err = ResumeLedger(dir, "abcd1234")
	require.NoError(t, err)
	require.NoError(t, errors.Join(l.Gone(lost), l.Made(kept), l.Close()))
	if all, err := s.Clean(t.Context(), dir); err != nil || len(all) != 1 || all[0].Left == "" || all[0].Kept != "" {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "abcd1234"+ledgerSuffix)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its ledger stays: %v", err)
	}
}

// The ledger names a tag that a registry may have, and none that it can't: an address
// where nobody listens, or a user who may not write, would be kept there for ever.
func TestPush(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	img, err := random.Image(64, 1)
	require.NoError(t, err)
	digest, err := img.Digest()
	require.NoError(t, err)
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path != "/v2/" {
			http.Error(w, "no", http.StatusForbidden)
		}
	}))
	t.Cleanup(refuses.Close)
	silent := httptest.NewServer(http.NotFoundHandler())
	silent.Close()
	for _, c := range []struct {
		host  string
		wrong string
		left  int
	}{
		{deletesWith(t, 0, 0).RegistryStr(), "", 1},
		{strings.TrimPrefix(refuses.URL, "http://"), "403", 0},
		{strings.TrimPrefix(silent.URL, "http://"), "refused", 0},
	} {
		repo, err := repository(c.host + "/scratch")
		require.NoError(t, err)
		l, err := NewLedger(t.TempDir(), "abcd1234")
		require.NoError(t, err)
		r := &run{ledger: l, source: &source{repo: repo}}
		err = r.pushOne(t.Context(), "abcd1234-payload", digest.String(), img)
		if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) || len(l.Left()) != c.left || len(r.removals) != c.left {
			t.Errorf("%v, want %q; the ledger has %v, and there are %d removals", err, c.wrong, l.Left(), len(r.removals))
		}
		for _, remove := range r.removals {
			require.NoError(t, remove(t.Context()))
		}
		require.NoError(t, l.Close())
	}
}
