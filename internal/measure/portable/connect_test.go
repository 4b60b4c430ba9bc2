package portable

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/moby/moby/api/types/system"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
)

// daemonAt serves a daemon of an API version and an identifier, that has nothing.
func daemonAt(t *testing.T, api, id string) Address {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Api-Version", api)
		w.Header().Set("Content-Type", "application/json")
		switch {
		case strings.HasSuffix(r.URL.Path, "/_ping"):
		case strings.HasSuffix(r.URL.Path, "/info"):
			_ = json.NewEncoder(w).Encode(system.Info{ID: id}) // who asked has gone
		default:
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"message":"no such thing"}`)) // as above
		}
	}))
	t.Cleanup(s.Close)
	return Address{Engine: Docker, Host: "tcp://" + s.Listener.Addr().String(), From: "the test"}
}

// An API that is too old is told in a sentence; the oldest that is spoken is taken.
func TestOldAPI(t *testing.T) {
	for api, ok := range map[string]bool{"1.24": false, "1.39": false, "1.40": true, "1.41": true, "1.99": true, "": true} {
		a := daemonAt(t, api, "")
		err := greet(t, a)
		if err == nil || ok {
			if err != nil || !ok {
				t.Errorf("%q: %v", api, err)
			}
			continue
		}
		if reason, _ := engine.Reason(err); reason != "docker at "+a.Host+" (by the test) speaks the API "+api+", and 1.40 is the oldest that this program speaks" {
			t.Errorf("%q: %v", api, err)
		}
	}
}

// What is no daemon is told in brief: a page of a web server is none of ours.
func TestNoDaemon(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "<html>\n<p>"+strings.Repeat("nobody is here ", 1000)+"</p>\n</html>", http.StatusForbidden)
	}))
	defer s.Close()
	err := greet(t, Address{Engine: Docker, Host: "tcp://" + s.Listener.Addr().String(), From: "the test"})
	if err == nil {
		t.Fatal("it was taken for a daemon")
	}
	if reason, _ := engine.Reason(err); len(reason) > 300 || strings.Contains(reason, "nobody") {
		t.Errorf("%.400q", reason)
	}
}

// A certificate that is not taken is told so, and that clocks may differ where its time is over
// or has not come.
func TestUntaken(t *testing.T) {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // a handshake that is broken off
	s.StartTLS()
	defer s.Close()
	a := Address{Engine: Docker, Host: "tcp://" + s.Listener.Addr().String(), From: "the test", TLS: &TLS{}}
	err := greet(t, a)
	if err == nil {
		t.Fatal("it was taken")
	}
	reason, fix := engine.Reason(err)
	if !strings.HasPrefix(reason, "docker at "+a.Host+" (by the test) has a certificate that is not taken here: x509: ") || fix != "docker version" {
		t.Errorf("%q, %q", reason, fix)
	}
	early := x509.CertificateInvalidError{Cert: &x509.Certificate{}, Reason: x509.Expired, Detail: "current time is before it"}
	reason, fix = engine.Reason((&Daemon{At: a}).wrong("asking", &tls.CertificateVerificationError{Err: early}))
	if !strings.Contains(reason, "not yet valid") || !strings.HasPrefix(fix, "date") {
		t.Errorf("%q, %q", reason, fix)
	}
}

// What a daemon doesn't have is told so. Where another one answers than the run had, its word
// strikes nothing out.
func TestDaemonElsewhere(t *testing.T) {
	const id = "7f1c1c34-0000-4000-8000-1234567890ab"
	at := daemonAt(t, "1.50", id)
	for _, kind := range []string{engine.KindImage, engine.KindContainer} {
		thing := engine.Thing{Kind: kind, Name: "plimsoll-abcdefgh-1", Engine: Docker, At: at.Host}
		for server, kept := range map[string]bool{"": false, daemonOf(id): false, "the daemon of before": true} {
			a := at
			a.Server = server
			err := Surroundings{}.remove(t.Context(), thing, reach{Address: a}, "abcdefgh")
			if errors.Is(err, errAbsent) == kept || kept != errors.Is(err, ErrElsewhere) ||
				kept && !strings.Contains(err.Error(), "the daemon "+id+" answers at "+at.Host+", and it had the daemon of before: let that address lead to the run's own daemon") {
				t.Errorf("the %s, the run had %q: %v", kind, server, err)
			}
		}
	}
	r := &run{ledger: &Ledger{by: map[string]reach{at.Host: {Address: Address{Engine: Docker, Host: at.Host, Server: "the daemon of before"}}}}}
	require.NoError(t, r.elsewhere(at.Host, daemonOf(id))) // nothing is left there
	r.ledger.left = []engine.Thing{{Kind: engine.KindImage, Name: "x", Engine: Docker, At: at.Host}}
	if err := r.elsewhere(at.Host, daemonOf(id)); err == nil || !strings.Contains(err.Error(), "another server answers there") {
		t.Errorf("resumed over what is left elsewhere: %v", err)
	}
}

// By commands it is the same: what isn't there, what is somebody else's, and who answers.
func TestCommandElsewhere(t *testing.T) {
	const id = "7f1c1c34-0000-4000-8000-1234567890ab"
	path := filepath.Join(t.TempDir(), "docker")
	require.NoError(t, os.WriteFile(path, []byte(`#!/bin/sh
case "$1 $2 $5" in
"image inspect theirs") echo somebody;;
"image inspect ours") echo abcdefgh;;
"rmi ours ") echo "$@" >>"$0.asked";;
"info --format "*) echo `+id+`;;
*) echo "Error: No such image: $5" >&2; exit 1;;
esac
`), 0o700))
	s := Surroundings{LookPath: func(string) (string, error) { return path, nil }}
	for _, c := range []struct {
		name, server string
		want         error
	}{{"ours", "", nil}, {"ours", "the daemon of before", nil}, {"theirs", "", errAbsent}, {"none", "", errAbsent}, {"none", daemonOf(id), errAbsent}, {"none", "the daemon of before", ErrElsewhere}} {
		a := Address{Engine: Docker, Host: "unix:///x.sock", From: "the test", Server: c.server}
		err := s.remove(t.Context(), engine.Thing{Kind: engine.KindImage, Name: c.name, Engine: Docker}, reach{Address: a, Program: true}, "abcdefgh")
		if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s of %q: %v, want %v", c.name, c.server, err, c.want)
		}
	}
	if asked, err := os.ReadFile(path + ".asked"); err != nil || string(asked) != "rmi ours\nrmi ours\n" {
		t.Errorf("removed were %q, %v", asked, err)
	}
}
