//go:build linux

// Package spans takes in what a daemon of ours says of its own work: spans of
// OpenTelemetry, by OTLP over gRPC on loopback.
//
// It is opinionated: nobody but the daemons that were given the token is heard, no more is
// kept than a table needs (name, service, times, who is whose child), and what comes is
// bounded. Their times are put on the clock of a trial's events when they arrive.
//
// Why it is so: docs/decisions/why.md.
package spans

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// What is taken in at most: a request has 512 spans by default, and a start some hundreds.
const (
	largestRequest = 4 << 20 // bytes
	mostSpans      = 100_000
	mostStreams    = 16
)

// Receiver keeps the spans that daemons send to it.
type Receiver struct {
	listener  net.Listener
	server    *grpc.Server
	collector engine.Collector
	most      int

	mu      sync.Mutex
	spans   []record.TraceSpan // on CLOCK_MONOTONIC
	refused int
	clock   clock
}

// Listen begins to take spans in; Close ends it.
func Listen() (*Receiver, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening for spans: %w", err)
	}
	r := &Receiver{listener: l, most: mostSpans, collector: engine.Collector{Addr: l.Addr().String(), Token: rand.Text()}}
	r.clock.look()
	r.server = grpc.NewServer(grpc.ForceServerCodec(asItCame{}), grpc.MaxRecvMsgSize(largestRequest), grpc.MaxConcurrentStreams(mostStreams), grpc.ConnectionTimeout(10*time.Second))
	r.server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "opentelemetry.proto.collector.trace.v1.TraceService", HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{MethodName: "Export", Handler: func(_ any, ctx context.Context, read func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			if !sent(ctx, r.collector.Token) {
				return nil, status.Error(codes.Unauthenticated, "only daemons that Plimsoll has started are heard")
			}
			var request []byte
			if err := read(&request); err != nil {
				return nil, err
			}
			return r.export(request)
		}}},
	}, r)
	go func() { _ = r.server.Serve(l) }()
	return r, nil
}

// Collector is what a daemon is told.
func (r *Receiver) Collector() *engine.Collector { return &r.collector }

// Close ends it and keeps the spans received. It closes the listener itself, which the
// server knows only once its goroutine has run.
func (r *Receiver) Close() {
	_ = r.listener.Close()
	r.server.Stop()
}

// sent says whether a request shows the token.
func sent(ctx context.Context, token string) bool {
	in, _ := metadata.FromIncomingContext(ctx)
	got := in.Get(engine.CollectorHeader)
	return len(got) == 1 && subtle.ConstantTimeCompare([]byte(got[0]), []byte(token)) == 1
}

// export takes a request's spans in, all or, where it is malformed, none.
func (r *Receiver) export(request []byte) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clock.look()
	var came []record.TraceSpan
	refused := 0
	err := decode(request, func(s record.TraceSpan) {
		if len(r.spans)+len(came) >= r.most {
			refused++
			return
		}
		s.From, s.To = s.From-r.clock.ahead, s.To-r.clock.ahead
		s.Name, s.Service = harmless.Text(s.Name), harmless.Text(s.Service)
		came = append(came, s)
	})
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, "no request of OTLP: "+err.Error())
	}
	r.spans = append(r.spans, came...)
	if r.refused += refused; refused == 0 {
		return nil, nil
	}
	part := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(refused)) // rejected_spans
	return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), part), nil          // partial_success
}

// Refused is how many there was no room for.
func (r *Receiver) Refused() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refused
}

// ClockError is what the spans' times may be wrong by on the clock of a trial's events, ns.
func (r *Receiver) ClockError() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.clock.worst
}

// During gives the spans of the traces that began between two instants of CLOCK_MONOTONIC,
// in the order of their beginning, with times after the first of the two: what began
// earlier, or later, is no part of a start.
func (r *Receiver) During(from, to int64) []record.TraceSpan {
	r.mu.Lock()
	defer r.mu.Unlock()
	began := map[[16]byte]int64{}
	for _, s := range r.spans {
		if at, ok := began[s.Trace]; !ok || s.From < at {
			began[s.Trace] = s.From
		}
	}
	var out []record.TraceSpan
	for _, s := range r.spans {
		if at := began[s.Trace]; at >= from-r.clock.worst && at < to {
			s.From, s.To = s.From-from, s.To-from
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b record.TraceSpan) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(b.To, a.To)) // the outer one first
	})
	return out
}

// asItCame leaves messages as they are.
type asItCame struct{}

func (asItCame) Name() string { return "proto" }

func (asItCame) Marshal(v any) ([]byte, error) {
	if b, ok := v.([]byte); ok {
		return b, nil
	}
	return nil, errors.New("no bytes")
}

func (asItCame) Unmarshal(data []byte, v any) error {
	b, ok := v.(*[]byte)
	if !ok {
		return errors.New("no bytes")
	}
	*b = slices.Clone(data)
	return nil
}
