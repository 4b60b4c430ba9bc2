package portable

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/moby/moby/api/pkg/authconfig"
	"github.com/moby/moby/api/types/registry"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// helperLimit bounds what a credential helper of docker login may take: one that waits
// for the password of a keyring asks somebody who may not be there.
const helperLimit = 30 * time.Second

// logins are the user's credentials as docker login keeps them, each looked up once. They
// are for a short while: tokens of helpers expire.
type logins struct {
	keychain authn.Keychain
	limit    time.Duration
	known    map[string]login
	silent   bool // a helper gave no answer
}

type login struct {
	who authn.Authenticator
	err error
}

func newLogins() *logins {
	return &logins{keychain: authn.DefaultKeychain, limit: helperLimit, known: map[string]login{}}
}

// of gives those for a repository.
func (l *logins) of(ctx context.Context, repo name.Repository) (authn.Authenticator, error) {
	if x, ok := l.known[repo.Name()]; ok {
		return x.who, x.err
	}
	answer := make(chan login, 1)
	go func() {
		who, err := l.keychain.Resolve(repo)
		if err != nil {
			err = &engine.Error{Class: record.Unavailable, Text: "looking for credentials for " + hostOf(repo), Err: err, Fix: loginFix(repo)}
		}
		answer <- login{who, err}
	}()
	var x login
	select {
	case x = <-answer:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(l.limit):
		l.silent = true
		l.known[repo.Name()] = login{err: unavailable(nil, loginFix(repo), "the credential helper of docker login gave no answer for %s before, and is not asked again", hostOf(repo))}
		return nil, unavailable(nil, loginFix(repo), "the credential helper of docker login gave no answer for %s within %v: it may be waiting for the password of a keyring", hostOf(repo), l.limit)
	}
	l.known[repo.Name()] = x
	return x.who, x.err
}

// encoded gives them in the form in which an engine's API takes them; "" is nobody.
func (l *logins) encoded(ctx context.Context, repo name.Repository) (string, error) {
	who, err := l.of(ctx, repo)
	if err != nil || who == authn.Anonymous {
		return "", err
	}
	c, err := who.Authorization()
	if err != nil {
		return "", fmt.Errorf("reading the credentials for %s: %w", hostOf(repo), err)
	}
	return authconfig.Encode(registry.AuthConfig{Username: c.Username, Password: c.Password, IdentityToken: c.IdentityToken,
		RegistryToken: c.RegistryToken, ServerAddress: repo.RegistryStr()})
}

// options are how this program speaks with the user's repository.
func (l *logins) options(ctx context.Context, repo name.Repository) ([]remote.Option, error) {
	who, err := l.of(ctx, repo)
	return []remote.Option{remote.WithContext(ctx), remote.WithAuth(who), remote.WithTransport(encrypted{remote.DefaultTransport})}, err
}

// hostOf is a registry as users call it: the library has another name for Docker Hub.
func hostOf(repo name.Repository) string {
	if repo.RegistryStr() == name.DefaultRegistry {
		return "docker.io"
	}
	return repo.RegistryStr()
}

func loginFix(repo name.Repository) string { return "docker login " + hostOf(repo) }

// encrypted sends nothing in clear text but to loopback. The library falls back to plain
// HTTP with private addresses too, and so would give credentials to whoever breaks the
// handshake.
type encrypted struct{ inner http.RoundTripper }

func (e encrypted) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme == "https" || loopback(req.URL.Host) {
		return e.inner.RoundTrip(req)
	}
	if req.Body != nil {
		_ = req.Body.Close() // nobody reads it
	}
	return nil, fmt.Errorf("without TLS only a registry on loopback is spoken with, and %s is elsewhere: give it a certificate that this machine trusts", req.URL.Host)
}

// loopback says whether HOST[:PORT] is the loopback of whoever names it.
func loopback(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	return isLoopback(host) || strings.HasSuffix(host, ".localhost")
}

// isLoopback says whether a host is an address of loopback, or its one name.
func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}
