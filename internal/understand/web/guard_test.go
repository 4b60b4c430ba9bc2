package web

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
)

// reply is an answer that was read.
type reply struct {
	status  int
	header  http.Header
	cookies []*http.Cookie
	body    string
}

// ask sends a request with headers of its own choice, and follows no address.
func ask(t testing.TB, x *site, method, path, host string, headers ...string) reply {
	t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, x.address+path, nil)
	require.NoError(t, err)
	if host != "" {
		r.Host = host
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := x.client.Transport.RoundTrip(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return reply{answer.StatusCode, answer.Header, answer.Cookies(), string(b)}
}

func TestWhoComesIn(t *testing.T) {
	folder := t.TempDir()
	put(t, small(1), folder, "one")
	x := open(t, Options{Dirs: []string{folder}})
	here := strings.TrimPrefix(x.address, "http://")
	_, port, err := net.SplitHostPort(here)
	require.NoError(t, err)
	for _, c := range []struct {
		what, method, host string
		headers            []string
		want               int
	}{
		{"as it is printed", "GET", here, nil, 200},
		{"HEAD", "HEAD", here, nil, 200},
		{"localhost", "GET", "LocalHost:" + port, nil, 200},
		{"a name that was made to point here", "GET", "evil.example:" + port, nil, 421},
		{"one that looks alike", "GET", "127.0.0.1.evil.example:" + port, nil, 421},
		{"another port of this machine", "GET", "127.0.0.1:1", nil, 421},
		{"no port", "GET", "127.0.0.1", nil, 421},
		{"another loopback address", "GET", "127.0.0.2:" + port, nil, 421},
		{"IPv6, which it is not bound to", "GET", "[::1]:" + port, nil, 421},
		{"its own page", "GET", here, []string{"Origin", "http://" + here, "Sec-Fetch-Site", "same-origin"}, 200},
		{"a page elsewhere", "GET", here, []string{"Origin", "http://evil.example"}, 403},
		{"a page at another port", "GET", here, []string{"Origin", "http://127.0.0.1:1"}, 403},
		{"a page that is encrypted", "GET", here, []string{"Origin", "https://" + here}, 403},
		{"a page without origin", "GET", here, []string{"Origin", "null"}, 403},
		{"a picture in a page elsewhere", "GET", here, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"}, 403},
		{"a page at another port of this machine", "GET", here, []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "cors", "Sec-Fetch-Dest", "empty"}, 403},
		{"a frame elsewhere", "GET", here, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}, 403},
		{"a link elsewhere", "GET", here, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 200},
		{"POST", "POST", here, nil, 405},
		{"PUT", "PUT", here, nil, 405},
		{"DELETE", "DELETE", here, nil, 405},
		{"OPTIONS", "OPTIONS", here, []string{"Origin", "http://" + here, "Access-Control-Request-Method", "GET"}, 405},
		{"TRACE", "TRACE", here, nil, 405},
	} {
		for _, path := range []string{"/", "/api/runs", "/assets/web.js"} {
			answer := ask(t, x, c.method, path, c.host, c.headers...)
			if answer.status != c.want {
				t.Errorf("%s, %s: %d, not %d", c.what, path, answer.status, c.want)
			}
			if answer.status == http.StatusMethodNotAllowed && answer.header.Get("Allow") != "GET, HEAD" {
				t.Errorf("%s: Allow is %q", c.what, answer.header.Get("Allow"))
			}
			checkHeaders(t, c.what, answer.header)
		}
	}
}

func checkHeaders(t testing.TB, what string, h http.Header) {
	t.Helper()
	for name, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY",
		"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp",
	} {
		if got := h.Get(name); got != want {
			t.Errorf("%s: %s is %q, not %q", what, name, got, want)
		}
	}
	csp := h.Get("Content-Security-Policy")
	for _, part := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self' data: blob:", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"} {
		if !strings.Contains(csp, part) {
			t.Errorf("%s: the policy %q lacks %s", what, csp, part)
		}
	}
	if strings.Contains(csp, "unsafe") || h.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("%s: %v", what, h)
	}
}

// TestToken is of a server that others than this machine can reach; the guard
// is asked about an address that this test does not have to listen at.
func TestToken(t *testing.T) {
	s, err := New(Options{Dirs: []string{t.TempDir()}})
	require.NoError(t, err)
	g, err := newGuard(&net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 7654}, "lab.example")
	require.NoError(t, err)
	other, err := newGuard(&net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 7654}, "")
	require.NoError(t, err)
	if len(g.token) < 32 || g.token == other.token {
		t.Fatalf("tokens %q and %q", g.token, other.token)
	}
	shown, err := url.Parse(g.address())
	if err != nil || shown.Query().Get("token") != g.token || shown.Host != "192.0.2.7:7654" {
		t.Fatalf("it prints %s (%v)", g.address(), err)
	}
	x := &site{Server: s, client: &http.Client{Transport: through{g.wrap(s.mux)}}, address: "http://192.0.2.7:7654"}
	for _, c := range []struct {
		what, path, host string
		cookie           string
		want             int
	}{
		{"without", "/", "192.0.2.7:7654", "", 401},
		{"without, a file", "/assets/web.js", "192.0.2.7:7654", "", 401},
		{"a wrong one", "/?token=" + other.token, "192.0.2.7:7654", "", 401},
		{"a part", "/?token=" + g.token[:20], "192.0.2.7:7654", "", 401},
		{"none at all", "/?token=", "192.0.2.7:7654", "", 401},
		{"two", "/?token=" + g.token + "&token=x", "192.0.2.7:7654", "", 401},
		{"a wrong cookie", "/", "192.0.2.7:7654", g.cookie + "=" + other.token, 401},
		{"right, by the address", "/runs/x?dir=a&token=" + g.token, "192.0.2.7:7654", "", 303},
		{"right, by the name", "/?token=" + g.token, "lab.example:7654", "", 303},
		{"right, through another name", "/?token=" + g.token, "evil.example:7654", "", 421},
		{"right, and two slashes", "//evil.example/?token=" + g.token, "192.0.2.7:7654", "", 303},
		{"the cookie", "/", "192.0.2.7:7654", g.cookie + "=" + g.token, 200},
		{"the cookie, the JSON", "/api/runs", "lab.example:7654", g.cookie + "=" + g.token, 200},
	} {
		answer := ask(t, x, "GET", c.path, c.host, "Cookie", c.cookie)
		if answer.status != c.want {
			t.Errorf("%s: %d, not %d", c.what, answer.status, c.want)
		}
		checkHeaders(t, c.what, answer.header)
		if c.want != 303 {
			if answer.header.Get("Set-Cookie") != "" {
				t.Errorf("%s: it sets a cookie", c.what)
			}
			continue
		}
		to := answer.header.Get("Location")
		if strings.Contains(to, g.token) || strings.HasPrefix(to, "//") || !strings.HasPrefix(to, "/") {
			t.Errorf("%s: it leads to %q", c.what, to)
		}
		set := answer.cookies
		if len(set) != 1 || set[0].Value != g.token || !set[0].HttpOnly || set[0].SameSite != http.SameSiteStrictMode || set[0].Domain != "" {
			t.Errorf("%s: cookies %+v", c.what, set)
		}
		if strings.HasPrefix(c.path, "/runs/x") && to != "/runs/x?dir=a" {
			t.Errorf("%s: it leads to %q", c.what, to)
		}
	}
}

// TestWide is of a server that is bound to all addresses: it answers to the one
// that the connection came to, and to the machine's name.
func TestWide(t *testing.T) {
	g, err := newGuard(&net.TCPAddr{IP: net.IPv4zero, Port: 80}, "")
	require.NoError(t, err)
	r, err := http.NewRequestWithContext(context.WithValue(context.Background(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 80}), http.MethodGet, "/", nil)
	require.NoError(t, err)
	if g.token == "" {
		t.Error("all can come in")
	}
	for host, want := range map[string]bool{"192.0.2.7": true, "192.0.2.7:80": true, "192.0.2.8": false, "192.0.2.7:81": false, "localhost": true, "evil.example": false, "": false} {
		if got := g.allowed(host, r); got != want {
			t.Errorf("%q: %v", host, got)
		}
	}
	for _, ip := range []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback} {
		if g, err := newGuard(&net.TCPAddr{IP: ip, Port: 1}, ""); err != nil || g.token != "" {
			t.Errorf("%s: %v, a token is needed: %v", ip, err, g.token != "")
		}
	}
}

// through answers requests by a handler, without a network.
type through struct{ http.Handler }

func (h through) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result(), nil
}

// TestLimits: who sends too long a request is let go.
func TestLimits(t *testing.T) {
	x := open(t, Options{Dirs: []string{t.TempDir()}})
	c, err := net.Dial("tcp", strings.TrimPrefix(x.address, "http://"))
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.SetDeadline(time.Now().Add(20*time.Second)))
	if _, err := fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: %s\r\nX: %s\r\n\r\n", strings.TrimPrefix(x.address, "http://"), strings.Repeat("x", 64<<10)); err != nil {
		return // it was let go while it sent
	}
	b := make([]byte, 12)
	if _, err := c.Read(b); err == nil && string(b) != "HTTP/1.1 431" {
		t.Errorf("it answers %q to 64 kB of headers", b)
	}
}
