package portable

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"plimsoll/internal/common/require"
)

// A name on loopback is warned of where the engine may be elsewhere, and refused nowhere.
func TestOwnLoopback(t *testing.T) {
	for _, c := range []struct {
		from, engine, kind string
		warned             bool
	}{
		{"localhost:5000/scratch", Docker, bySocket, false}, {"localhost:5000/scratch", Docker, byTLS, true}, {"127.0.0.1:5000/scratch", Docker, bySSH, true},
		{"registry.example/scratch", Docker, byTLS, false}, {"10.0.0.3:5000/scratch", Docker, bySSH, false},
		{"localhost:5000/scratch", CRI, bySocket, true}, {"registry.example/scratch", CRI, bySocket, false}, // its socket is forwarded
	} {
		repo, err := repository(c.from)
		require.NoError(t, err)
		said := (&source{repo: repo}).ownLoopback(&Found{Engine: c.engine, Kind: c.kind})
		if (said != "") != c.warned || c.warned && !strings.Contains(said, c.engine+" is reached by "+c.kind) {
			t.Errorf("%+v: %q", c, said)
		}
	}
}

// A push that is refused names the login, one that fails otherwise another repository.
func TestPushFix(t *testing.T) {
	for status, want := range map[int]string{401: "docker login", 403: "docker login", 400: "--pull-from"} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "<html>\n<p>nobody is here</p>\n</html>", status)
		}))
		repo, err := repository(strings.TrimPrefix(s.URL, "http://") + "/scratch")
		require.NoError(t, err)
		_, err = remote.Head(repo.Tag("x"))
		fix := (&source{repo: repo}).pushFix(err)
		if !strings.Contains(fix, want) || strings.HasPrefix(fix, "docker") && !strings.HasSuffix(fix, " "+repo.RegistryStr()) {
			t.Errorf("%d: %q, want %q: %v", status, fix, want, err)
		}
		if text := told(err).Error(); strings.Contains(text, "nobody") || statusOf(told(err)) != status {
			t.Errorf("%d: %q", status, text)
		}
		s.Close()
	}
}

// Two images of a run have two tags, and none is longer than registries take.
func TestTagOf(t *testing.T) {
	seen := map[string]string{}
	for _, called := range []string{"payload", "alpine:3", "alpine-3", "Alpine-3", "registry.example/" + strings.Repeat("team/", 40) + "x:1", "registry.example/" + strings.Repeat("team/", 40) + "x:2"} {
		tag := tagOf("abcd1234", called)
		if other, twice := seen[tag]; twice || len(tag+"-sibling") > 128 {
			t.Errorf("%s and %s have the tag %s of %d characters", called, other, tag, len(tag))
		}
		seen[tag] = called
		if _, err := name.NewTag("localhost:5000/scratch:" + tag + "-sibling"); err != nil {
			t.Error(err)
		}
	}
	if _, plain := seen["abcd1234-payload"]; !plain {
		t.Errorf("a plain name is not as it is: %v", seen)
	}
}

// What a registry says of a failure is a line, without the keys of signed addresses.
func TestBrief(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "no": "no", " denied\n<html>": "denied",
		`failed open: unexpected status from GET https://s3.example/blob?X-Amz-Signature=abc&x=1: 403 Forbidden`: "failed open: unexpected status from GET https://s3.example/blob?… 403 Forbidden",
		`Get "https://s3.example/blob?X-Amz-Signature=abc": EOF`:                                                 `Get "https://s3.example/blob?…": EOF`,
		"why? because": "why? because",
	} {
		if got := brief(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	if n := len(brief(strings.Repeat("x", 100_000))); n > 700 {
		t.Errorf("%d bytes are kept", n)
	}
}
