package spans

import (
	"context"
	"encoding/binary"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// captured is the first spans of a request of a CRI-O 1.34.0, as they came, with another
// name of the host.
func captured(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/crio-1.34.0.otlp")
	require.NoError(t, err)
	return b
}

func part(number protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), content)
}

func instant(number protowire.Number, ns uint64) []byte {
	return binary.LittleEndian.AppendUint64(protowire.AppendTag(nil, number, protowire.Fixed64Type), ns)
}

func join(parts ...[]byte) (all []byte) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// asked is a request with one span of so many fields.
func asked(fields ...[]byte) []byte {
	service := part(resourceAttributes, join(part(attributeKey, []byte(serviceName)), part(attributeValue, part(valueText, []byte("crio")))))
	spans := part(resourceSpansScopes, part(scopeSpans, join(fields...)))
	return part(requestResourceSpans, join(spans, part(resourceSpansOf, service))) // the service is told last
}

var (
	traced = part(spanTrace, []byte("0123456789abcdef"))
	known  = part(spanID, []byte("01234567"))
	began  = instant(spanBegin, 1_800_000_000_000_000_000)
	ended  = instant(spanEnd, 1_800_000_000_005_000_000)
)

func client(t *testing.T, r *Receiver) func(token string, request []byte) ([]byte, error) {
	t.Helper()
	conn, err := grpc.NewClient(r.Collector().Addr, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.ForceCodec(asItCame{})))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return func(token string, request []byte) (answer []byte, err error) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if token != "" {
			ctx = metadata.AppendToOutgoingContext(ctx, engine.CollectorHeader, token)
		}
		err = conn.Invoke(ctx, "/opentelemetry.proto.collector.trace.v1.TraceService/Export", request, &answer)
		return answer, err
	}
}

// TestReal: a request of a real daemon is read as its other fields say that it has to be.
func TestReal(t *testing.T) {
	r, err := Listen()
	require.NoError(t, err)
	defer r.Close()
	_, err = client(t, r)(r.Collector().Token, captured(t))
	require.NoError(t, err)
	var names []string
	for _, s := range r.spans {
		names = append(names, s.Name)
		if s.Service != "crio" || s.To < s.From || s.To-s.From > int64(time.Minute) {
			t.Errorf("%+v", s)
		}
	}
	said := strings.Join(names, " ")
	for _, want := range wantNames {
		if !strings.Contains(said, want) {
			t.Errorf("no %s in %s", want, said)
		}
	}
}

// TestReceiver: spans of who has the token are kept, on the clock of a trial's events, and
// anything else is answered with an error.
func TestReceiver(t *testing.T) {
	r, err := Listen()
	require.NoError(t, err)
	defer r.Close()
	send, token := client(t, r), r.Collector().Token
	good := asked(traced, known, began, ended, part(spanName, []byte("a\x1b[31mb")))
	for name, c := range map[string]struct {
		token   string
		request []byte
		want    codes.Code
	}{
		"no token":               {"", good, codes.Unauthenticated},
		"another token":          {"x", good, codes.Unauthenticated},
		"no message":             {token, []byte("GET / HTTP/1.1"), codes.InvalidArgument},
		"cut off":                {token, good[:len(good)-3], codes.InvalidArgument},
		"no identity":            {token, asked(began, ended), codes.InvalidArgument},
		"a short identity":       {token, asked(traced, part(spanID, []byte("0")), began, ended), codes.InvalidArgument},
		"identity is a number":   {token, asked(traced, instant(spanID, 1), began, ended), codes.InvalidArgument},
		"ends before it begins":  {token, asked(traced, known, instant(spanBegin, 2), instant(spanEnd, 1)), codes.InvalidArgument},
		"beyond time":            {token, asked(traced, known, began, instant(spanEnd, 1<<63)), codes.InvalidArgument},
		"without times":          {token, asked(traced, known), codes.InvalidArgument},
		"more than is read":      {token, make([]byte, largestRequest+1), codes.ResourceExhausted},
		"a group without an end": {token, protowire.AppendTag(nil, 1, protowire.StartGroupType), codes.InvalidArgument},
		"nothing":                {token, nil, codes.OK},
	} {
		if _, err := send(c.token, c.request); status.Code(err) != c.want {
			t.Errorf("%s: %v, expected %v", name, err, c.want)
		}
	}
	if len(r.spans) > 0 {
		t.Fatalf("kept of what was refused: %+v", r.spans)
	}
	_, err = send(token, good)
	require.NoError(t, err)
	at := 1_800_000_000_000_000_000 - r.clock.ahead
	if s := r.spans[0]; s.From != at || s.To != at+5_000_000 || s.Name != "ab" || s.Service != "crio" {
		t.Errorf("%+v, expected %d", s, at)
	}
	if e := r.ClockError(); e <= 0 || e > int64(10*time.Millisecond) {
		t.Errorf("the clocks are known to within %d ns", e)
	}
	for from, n := range map[int64]int{at - 1: 1, at: 1, at + 1 + r.ClockError(): 0, at - 1000 - int64(time.Second): 0} {
		if got := r.During(from, from+int64(time.Second)); len(got) != n {
			t.Errorf("from %d: %d spans, expected %d", from-at, len(got), n)
		} else if n > 0 && got[0].From != at-from {
			t.Errorf("begins %d ns after the request, expected %d", got[0].From, at-from)
		}
	}
}

// TestBounded: there is room for so many, the daemon is told how many were refused, and a
// long name is cut.
func TestBounded(t *testing.T) {
	r, err := Listen()
	require.NoError(t, err)
	r.most = 2
	defer r.Close()
	send := client(t, r)
	request := asked(traced, known, began, ended, part(spanName, []byte(strings.Repeat("x", 10*longest))))
	for i := range 3 {
		answer, err := send(r.Collector().Token, request)
		require.NoError(t, err)
		if want := map[bool]string{true: "\x0a\x02\x08\x01"}[i == 2]; string(answer) != want {
			t.Errorf("answer %d: %q, expected %q", i, answer, want)
		}
	}
	if len(r.spans) != 2 || r.Refused() != 1 || len(r.spans[0].Name) != longest {
		t.Errorf("%d kept, %d refused, a name of %d", len(r.spans), r.Refused(), len(r.spans[0].Name))
	}
}

// TestOnLoopback: nobody elsewhere can reach it, and nobody can once it is closed.
func TestOnLoopback(t *testing.T) {
	r, err := Listen()
	require.NoError(t, err)
	host, _, err := net.SplitHostPort(r.Collector().Addr)
	if err != nil || !net.ParseIP(host).IsLoopback() {
		t.Errorf("it listens on %s (%v)", host, err)
	}
	r.Close()
	if c, err := net.DialTimeout("tcp", r.Collector().Addr, time.Second); err == nil {
		_ = c.Close()
		t.Error("somebody listens after it was closed")
	}
}

// FuzzDecode: what is no request is an error, and what is read has an identity and a length.
func FuzzDecode(f *testing.F) {
	f.Add(captured(f))
	f.Add(asked(traced, known, began, ended))
	f.Add([]byte{0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, request []byte) {
		_ = decode(request, func(s record.TraceSpan) {
			if s.ID == [8]byte{} || s.Trace == [16]byte{} || s.From > s.To || s.From < 0 || len(s.Name) > longest {
				t.Errorf("%+v", s)
			}
		})
	})
}

// TestDamaged: no byte that is missing or another crashes it.
func TestDamaged(t *testing.T) {
	whole := captured(t)
	for i := range whole {
		_ = decode(whole[:i], func(record.TraceSpan) {})
		other := append([]byte(nil), whole...)
		other[i] ^= 0xff
		_ = decode(other, func(record.TraceSpan) {})
	}
}

// wantNames are some of the spans that it has.
var wantNames = []string{"/runtime.v1.RuntimeService/RunPodSandbox", "github.com/cri-o/cri-o/server.(*Server).filterContainerList", " runtime.v1.RuntimeService/StopPodSandbox"}
