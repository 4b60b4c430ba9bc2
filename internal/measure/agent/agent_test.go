//go:build linux

package agent

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/storage"
)

// served is an agent that listens on loopback.
type served struct {
	book  *Book
	id    *Identity
	host  string
	print string
}

func serve(t *testing.T, hz float64) *served {
	t.Helper()
	id, err := OpenIdentity(filepath.Join(t.TempDir(), "id"), "node")
	require.NoError(t, err)
	b, err := NewBook(BookOptions{Name: "node", Version: "v", Sources: storage.Sources, Hz: hz})
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &served{book: b, id: id, host: l.Addr().String(), print: Fingerprint(id.Certificate.Certificate[0])}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- NewServer(b, id.Certificate, id.Token, io.Discard).Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *served) client(t *testing.T) *Client {
	t.Helper()
	a, err := ParseAddress("https://" + s.host + "#" + s.print)
	require.NoError(t, err)
	c := NewClient(a, s.id.Token)
	t.Cleanup(func() { c.Close() })
	return c
}

func TestWindow(t *testing.T) {
	s := serve(t, 50)
	c := s.client(t)
	ctx := t.Context()
	a, err := c.About(ctx)
	if err != nil || a.Name != "node" || len(a.Sources) != len(storage.Sources) {
		t.Fatalf("%+v, %v", a, err)
	}
	clock, err := c.Compare(ctx)
	require.NoError(t, err)
	// One machine has one clock: the offset is nothing, to what it may be wrong by.
	if max(clock.OffsetNS, -clock.OffsetNS) > clock.UncertaintyNS || clock.UncertaintyNS <= 0 || clock.UncertaintyNS > int64(time.Second) {
		t.Errorf("%+v", clock)
	}
	before := now()
	b, err := c.Begin(ctx, BeginAsk{Run: "r", Trial: 3})
	require.NoError(t, err)
	time.Sleep(500 * time.Millisecond) // 25 samples, of which a busy machine may miss some
	w, err := c.End(ctx, EndAsk{b.Window})
	require.NoError(t, err)
	if w.Begun != b.Begun || w.Begun < before || w.Ended-w.Begun < int64(500*time.Millisecond) || w.Ended > now() {
		t.Errorf("from %d to %d, after %d", w.Begun, w.Ended, before)
	}
	if w.Series == nil || len(w.Series.Rows) < 3 || w.Series.Column("host-user") < 0 || w.Series.Collector != "agent-node" {
		t.Errorf("no series of the machine: %+v", w.Series)
	}
	if _, err := c.End(ctx, EndAsk{b.Window}); err == nil || !strings.Contains(err.Error(), "no such window") {
		t.Errorf("ended twice: %v", err)
	}
}

// A run that was killed leaves its window: its next one takes the place.
func TestWindowsAreBounded(t *testing.T) {
	s := serve(t, 0)
	c := s.client(t)
	var first *BeginAnswer
	for i := range 3 {
		b, err := c.Begin(t.Context(), BeginAsk{Run: "one", Trial: i})
		require.NoError(t, err)
		if i == 0 {
			first = b
		}
	}
	if _, err := c.End(t.Context(), EndAsk{first.Window}); err == nil {
		t.Error("a window that was given up can be ended")
	}
	for i := 1; i < mostWindows; i++ {
		if _, err := c.Begin(t.Context(), BeginAsk{Run: "run" + strings.Repeat("x", i)}); err != nil {
			t.Fatal(i, err)
		}
	}
	if _, err := c.Begin(t.Context(), BeginAsk{Run: "one too many"}); err == nil || !strings.Contains(err.Error(), "too many") {
		t.Errorf("%v", err)
	}
}

// Who has not the token learns nothing; who answers with another certificate is
// told nothing.
func TestStrangers(t *testing.T) {
	s := serve(t, 0)
	for _, token := range []string{"", "x", s.id.Token + "x", s.id.Token[:len(s.id.Token)-1]} {
		c := NewClient(Address{Host: s.host, Fingerprint: s.print}, token)
		if _, err := c.About(t.Context()); err == nil || !strings.Contains(err.Error(), "token") {
			t.Errorf("with the token %q: %v", token, err)
		}
		c.Close()
	}
	for _, print := range []string{"", strings.Repeat("00", 32)} {
		c := NewClient(Address{Host: s.host, Fingerprint: print}, s.id.Token)
		if _, err := c.About(t.Context()); err == nil || !strings.Contains(err.Error(), "certificate") {
			t.Errorf("with the fingerprint %q: %v", print, err)
		}
		c.Close()
	}
}

func TestRefusals(t *testing.T) {
	s := serve(t, 0)
	h := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer h.CloseIdleConnections()
	for _, c := range []struct {
		method, path, body string
		status             int
	}{
		{"GET", pathClock, "", 200},
		{"GET", "/", "", 404},
		{"POST", pathClock, "", 405},
		{"GET", pathBegin, "", 405},
		{"POST", pathBegin, "{", 400},
		{"POST", pathBegin, `{"run":""}`, 400},
		{"POST", pathBegin, `{"run":"` + strings.Repeat("r", 65) + `"}`, 400},
		{"POST", pathBegin, `{"run":"` + strings.Repeat("r", mostAsked) + `"}`, 413},
		{"POST", pathEnd, `{"window":"../../etc/passwd"}`, 404},
		{"POST", pathEnd, `[]`, 400},
	} {
		r, err := http.NewRequestWithContext(t.Context(), c.method, "https://"+s.host+c.path, strings.NewReader(c.body))
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+s.id.Token)
		res, err := h.Do(r)
		require.NoError(t, err)
		res.Body.Close()
		if res.StatusCode != c.status {
			t.Errorf("%s %s %.40s: status %d, not %d", c.method, c.path, c.body, res.StatusCode, c.status)
		}
	}
}

// The identity is the same after a restart, and nobody else may read it.
func TestIdentity(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "id")
	a, err := OpenIdentity(dir, "node")
	require.NoError(t, err)
	b, err := OpenIdentity(dir, "node")
	require.NoError(t, err)
	if a.Token != b.Token || Fingerprint(a.Certificate.Certificate[0]) != Fingerprint(b.Certificate.Certificate[0]) {
		t.Error("a restart changed the identity")
	}
	for _, f := range []string{certFile, keyFile, tokenFile} {
		info, err := os.Stat(filepath.Join(dir, f))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f, info.Mode(), err)
		}
	}
	require.NoError(t, os.Chmod(a.TokenFile, 0o644))
	if _, err := ReadToken(a.TokenFile); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a token that others can read: %v", err)
	}
}

func TestParseAddress(t *testing.T) {
	print := strings.Repeat("ab", 32)
	for in, want := range map[string]Address{
		"https://oss1:7655#" + print: {"oss1:7655", print},
		"https://oss1#" + print:      {"oss1:" + DefaultPort, print},
		"https://[fe80::1]:1/":       {"[fe80::1]:1", ""},
		"https://oss1#sha":           {},
		"http://oss1#" + print:       {},
		"https://u:p@oss1":           {},
		"https://oss1/path":          {},
		"oss1:7655":                  {},
		"":                           {},
	} {
		got, err := ParseAddress(in)
		if got != want || (err == nil) != (want != Address{}) {
			t.Errorf("%q: %+v, %v", in, got, err)
		}
	}
}

func TestNames(t *testing.T) {
	for in, want := range map[string]string{"OSS-1.site.example": "oss-1", "local": "local", "mds_2": "mds-2", strings.Repeat("a", 99): strings.Repeat("a", 40)} {
		if got := NameOf(in); got != want || CheckName(got) != nil {
			t.Errorf("%q: %q (%v), not %q", in, got, CheckName(got), want)
		}
	}
	for _, bad := range []string{"", "storage", "a b", "Ä", "../x", strings.Repeat("a", 41)} {
		if CheckName(bad) == nil {
			t.Errorf("%q may be a name", bad)
		}
	}
}
