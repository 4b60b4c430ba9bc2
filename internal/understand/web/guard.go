package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
)

// guard lets in who may come in, before anything else looks at a request.
type guard struct {
	port string
	// names are the hosts that a request may name: another one is a page
	// elsewhere whose name was made to point here (DNS rebinding).
	names []string
	// wide: bound to every address of the machine, each of which may be named.
	wide bool
	// token is needed where others than this machine can connect; else "".
	token  string
	cookie string
	shown  string
}

func newGuard(addr net.Addr, asked string) (*guard, error) {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return nil, fmt.Errorf("serving at %s: %w", addr, err)
	}
	ip := net.ParseIP(host)
	if ip == nil {
		return nil, fmt.Errorf("serving at %s: it is no address of a network", addr)
	}
	g := &guard{port: port, names: []string{"localhost", host}, wide: ip.IsUnspecified(), cookie: "plimsoll-" + port, shown: net.JoinHostPort(host, port)}
	if asked != "" && net.ParseIP(asked) == nil {
		g.names = append(g.names, strings.ToLower(asked))
	}
	if ip.IsLoopback() {
		return g, nil
	}
	g.token = newToken()
	if name, err := os.Hostname(); err == nil {
		g.names = append(g.names, strings.ToLower(name))
		if g.wide {
			g.shown = net.JoinHostPort(name, port)
		}
	}
	return g, nil
}

// policy forbids whatever a page does not need.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

func (g *guard) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Embedder-Policy", "require-corp")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
		h.Set("Cache-Control", "no-cache")
		switch {
		case !g.host(r):
			refuse(w, http.StatusMisdirectedRequest, "this server does not answer to that name", "open "+g.plain()+"; through a tunnel give it the same port number")
		case !g.origin(r):
			refuse(w, http.StatusForbidden, "another page asked for this", "open "+g.plain()+" itself")
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			refuse(w, http.StatusMethodNotAllowed, "nothing can be changed here", "GET and HEAD are answered")
		case g.token != "" && g.hands(r):
			g.admit(w, r)
		case g.token != "" && !g.knows(r):
			refuse(w, http.StatusUnauthorized, "this server wants its token", "open the address that plimsoll serve printed")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// plain is the address without the token.
func (g *guard) plain() string { return "http://" + g.shown + "/" }

func (g *guard) host(r *http.Request) bool { return g.allowed(r.Host, r) }

func (g *guard) allowed(hostport string, r *http.Request) bool {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil {
		host, port = strings.Trim(hostport, "[]"), "80" // a browser leaves it out
	}
	if port != g.port {
		return false
	}
	if slices.Contains(g.names, strings.ToLower(host)) {
		return true
	}
	if !g.wide {
		return false
	}
	ip := net.ParseIP(host)
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ok && ip != nil && local.IP.Equal(ip)
}

// origin refuses what a page of another origin asks for; to be opened from one,
// by a click, is fine.
func (g *guard) origin(r *http.Request) bool {
	if o, ok := r.Header["Origin"]; ok {
		rest, http := strings.CutPrefix(o[0], "http://")
		if len(o) != 1 || !http || !g.allowed(rest, r) {
			return false
		}
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return true
	}
	return r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

func (g *guard) same(token string) bool {
	a, b := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(g.token))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// hands says whether a request brings the token in its address.
func (g *guard) hands(r *http.Request) bool {
	t := r.URL.Query()["token"]
	return len(t) == 1 && g.same(t[0])
}

func (g *guard) knows(r *http.Request) bool {
	c, err := r.Cookie(g.cookie)
	return err == nil && g.same(c.Value)
}

// admit puts the token into a cookie and out of the address, where it would be
// seen and kept.
func (g *guard) admit(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, &http.Cookie{Name: g.cookie, Value: g.token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	u := *r.URL
	q := u.Query()
	q.Del("token")
	u.RawQuery, u.Scheme, u.Host = q.Encode(), "", ""
	// A path of two slashes would be another host.
	u.Path = "/" + strings.TrimLeft(u.Path, "/\\")
	u.RawPath = ""
	http.Redirect(w, r, u.String(), http.StatusSeeOther)
}

// refuse answers with a sentence and what to do.
func refuse(w http.ResponseWriter, status int, why, advice string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	text := why + ": " + advice + "\n"
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text)) // who has gone needs no answer
}
