package portable

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/moby/moby/api/pkg/authconfig"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// asked is a transport that reaches nobody and keeps what it was asked for.
type asked struct {
	mu   sync.Mutex
	urls []string
}

func (a *asked) RoundTrip(req *http.Request) (*http.Response, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.urls = append(a.urls, req.URL.String())
	return nil, errors.New("no such host")
}

// Without TLS a registry on loopback alone is spoken with, and pulled from: an address of a
// private network is not one, though the library takes it for one.
func TestPlainOnLoopback(t *testing.T) {
	for host, plain := range map[string]bool{
		"localhost:5000": true, "127.0.0.1:5000": true, "[::1]:5000": true, "registry.localhost:5000": true, "127.0.0.1": true,
		"10.0.0.3:5000": false, "192.168.1.5:5000": false, "172.16.0.1": false, "registry.example": false, "docker.io": false, "localhost.example:5000": false,
		"[fd00::1]:5000": false, "127.0.0.1.example": false,
	} {
		repo, err := repository(host + "/team/scratch")
		require.NoError(t, err)
		if s := (&source{repo: repo}); s.plain() != plain {
			t.Errorf("%s: pulled from without TLS: %v, want %v", host, s.plain(), plain)
		}
		inner := &asked{}
		_, err = remote.Head(repo.Tag("x"), remote.WithTransport(encrypted{inner}), remote.WithAuth(&authn.Basic{Username: "me", Password: "secret"}))
		if err == nil {
			t.Errorf("%s answers", host)
		}
		clear := false
		for _, u := range inner.urls {
			clear = clear || strings.HasPrefix(u, "http://")
		}
		if clear != plain || len(inner.urls) == 0 {
			t.Errorf("%s was asked for %v, %v", host, inner.urls, err)
		}
	}
}

// loggedIn writes what docker login keeps.
func loggedIn(t *testing.T, host, password string) {
	t.Helper()
	text := `{"auths":{"` + host + `":{"username":"me","password":"` + password + `"}}}`
	require.NoError(t, os.WriteFile(filepath.Join(os.Getenv("DOCKER_CONFIG"), "config.json"), []byte(text), 0o600))
}

// A registry that wants credentials gets the user's, from this program and, by the engine's
// API, from the engine: those of the moment, since tokens expire.
func TestLogins(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	open := registryOf(t, nil)
	guarded := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if user, password, _ := req.BasicAuth(); user != "me" || password != "second" {
			w.Header().Set("WWW-Authenticate", `Basic realm="scratch"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		open.ServeHTTP(w, req)
	}))
	t.Cleanup(guarded.Close)
	host := strings.TrimPrefix(guarded.URL, "http://")
	repo, err := repository(host + "/scratch")
	require.NoError(t, err)
	docker := &Found{Engine: Docker, Kind: bySocket, address: Address{Engine: Docker, Host: "unix:///x.sock"}}
	r := &run{source: &source{repo: repo}, Options: Options{Look: &Look{found: map[string]*Found{Docker: docker}}}}
	rec := &record.Environment{Engine: Docker}
	for _, password := range []string{"", "first", "second"} {
		if password != "" {
			loggedIn(t, host, password)
		}
		text, err := r.authFor(t.Context(), &environment{runner: &byAPI{}, rec: rec})
		require.NoError(t, err)
		auth, err := authconfig.Decode(text)
		require.NoError(t, err)
		if auth.Password != password {
			t.Errorf("the engine gets %q, want %q", auth.Password, password)
		}
	}
	if text, err := r.authFor(t.Context(), &environment{runner: &byCommand{}, rec: rec}); text != "" || err != nil {
		t.Errorf("a command, which looks them up itself, gets %q, %v", text, err)
	}
	docker.address.Host = "tcp://10.0.0.3:2375"
	for _, runner := range []runner{&byAPI{}, &byCommand{}} {
		if text, err := r.authFor(t.Context(), &environment{runner: runner, rec: rec}); text != "" || err == nil || strings.Contains(err.Error(), "second") {
			t.Errorf("over a network without encryption %T gets %q, %v", runner, text, err)
		}
	}
	docker.address.Host, docker.Kind = "tcp://10.0.0.3:2376", byTLS
	if text, err := r.authFor(t.Context(), &environment{runner: &byAPI{}, rec: rec}); text != "" || err != nil {
		t.Errorf("an engine elsewhere gets %q for its own loopback, %v", text, err)
	}
	img, err := random.Image(64, 1)
	require.NoError(t, err)
	digest, err := img.Digest()
	require.NoError(t, err)
	by := newLogins()
	opts, err := by.options(t.Context(), repo)
	require.NoError(t, err)
	tag := repo.Tag("abcd1234-payload")
	require.NoError(t, remote.Write(tag, img, opts...))
	require.NoError(t, removeTag(t.Context(), tag.Name()+"@"+digest.String(), by))
	if there, err := leadsTo(tag, digest.String(), opts); there || err != nil {
		t.Errorf("it is there after its removal: %v, %v", there, err)
	}
}

// waiting is a credential helper that waits for somebody who isn't there.
type waiting struct{ until chan struct{} }

func (w waiting) Resolve(authn.Resource) (authn.Authenticator, error) {
	<-w.until
	return authn.Anonymous, nil
}

// A helper that does not answer is given up, with what to do, and not asked again by the run:
// one that answers is, since tokens expire.
func TestLoginLimit(t *testing.T) {
	until := make(chan struct{})
	t.Cleanup(func() { close(until) })
	repo, err := repository("docker.io/somebody/scratch")
	require.NoError(t, err)
	by := &logins{keychain: waiting{until}, limit: time.Millisecond, known: map[string]login{}}
	s := &source{repo: repo, now: by}
	for _, want := range []string{"gave no answer for docker.io within 1ms", "gave no answer for docker.io before, and is not asked again"} {
		_, err = by.of(t.Context(), repo)
		text, fix := engine.Reason(err)
		if !strings.Contains(text, want) || fix != "docker login docker.io" {
			t.Errorf("%q, %q", text, fix)
		}
		by.limit = time.Hour // it would be waited for
	}
	if s.anew() != by {
		t.Error("the run asks it again")
	}
	s.now = newLogins()
	if first := s.anew(); first == by || first == s.anew() {
		t.Error("credentials of before are taken for those of now")
	}
}
