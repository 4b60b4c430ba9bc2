package run

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine/fake"
	"plimsoll/internal/record"
)

// pages serves one page at a port of 127.0.0.1, after a while.
func pages(t *testing.T, page string, after time.Duration) (port int) {
	t.Helper()
	port, err := freePort()
	require.NoError(t, err)
	s := &http.Server{Addr: fmt.Sprintf("127.0.0.1:%d", port), ReadHeaderTimeout: time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, page) })}
	begun := make(chan struct{})
	go func() {
		defer close(begun)
		time.Sleep(after)
		l, err := net.Listen("tcp4", s.Addr)
		if err != nil {
			t.Error(err)
			return
		}
		go func() { _ = s.Serve(l) }() // it ends with the test
	}()
	t.Cleanup(func() { <-begun; _ = s.Close() })
	return port
}

// A server is asked until it answers, and the time is until then.
func TestFirstAnswer(t *testing.T) {
	const late = 100 * time.Millisecond
	began := time.Now()
	port := pages(t, "the word abcd", late)
	least := late - time.Since(began) // the server's time runs already
	took, err := firstAnswer(context.Background(), port, "abcd", 10*time.Second)
	if err != nil || took < least {
		t.Errorf("%v, %v, want at least %v", took, err, least)
	}
}

// What somebody else says, and silence, are no answer.
func TestNoFirstAnswer(t *testing.T) {
	limit := 50 * time.Millisecond
	// What is to be heard needs as long as a busy machine takes to say it.
	heard := 20 * limit
	if took, err := firstAnswer(context.Background(), pages(t, "another word", 0), "abcd", heard); err == nil || !strings.Contains(err.Error(), "someone else") || took < heard {
		t.Errorf("%v, %v", took, err)
	}
	port, err := freePort()
	require.NoError(t, err)
	if _, err := firstAnswer(context.Background(), port, "abcd", limit); err == nil || !strings.Contains(err.Error(), "connecting") {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := firstAnswer(ctx, port, "abcd", time.Minute); err != context.Canceled { //nolint:errorlint // it is handed on as it is
		t.Errorf("%v", err)
	}
}

// An engine that lets nobody ask has failed the trial, and a simulated one has
// no port at all.
func TestServedByNobody(t *testing.T) {
	o := protocolOf(t, "  - server-answer\n", fakes("medium"), fake.New())
	for _, tr := range carried(t, o) {
		if tr.OK() || tr.Failure.Class != record.Unsupported || !strings.Contains(tr.Failure.Text, "no port to publish") {
			t.Errorf("%+v", tr.Failure)
		}
	}
}
