package engine

import (
	"context"
	"fmt"
	"time"

	"plimsoll/internal/record"
)

// Collector is where a daemon of ours sends its own spans (OpenTelemetry), as OTLP over
// gRPC.
type Collector struct {
	Addr  string // HOST:PORT on the host's loopback
	Token string // shows that they come from a daemon of ours
}

// CollectorHeader is what the token is sent in.
const CollectorHeader = "plimsoll-token"

// TracedFact says of an environment that its daemon's own tracing is on.
const TracedFact = "daemon-tracing"

// Spans are sent in batches, the last of which a daemon may not send when it is told to
// end: containerd gives up what is needed for it first.
const (
	batchEach = time.Second
	batchSent = batchEach / 2
)

// Linger is how long a daemon is to be left after its last work, for its last batch.
func (c *Collector) Linger() time.Duration {
	if c == nil {
		return 0
	}
	return batchEach + batchSent
}

// Env are the variables by which a program sends all of its spans there.
func (c *Collector) Env() []string {
	if c == nil {
		return nil
	}
	return []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://" + c.Addr, "OTEL_EXPORTER_OTLP_PROTOCOL=grpc",
		"OTEL_EXPORTER_OTLP_HEADERS=" + CollectorHeader + "=" + c.Token, "OTEL_TRACES_SAMPLER=parentbased_always_on",
		fmt.Sprintf("OTEL_BSP_SCHEDULE_DELAY=%d", batchEach.Milliseconds())}
}

// Reach is the address that the daemon has to reach, none without a collector.
func (c *Collector) Reach() []string {
	if c == nil {
		return nil
	}
	return []string{c.Addr}
}

// Facts are those of an environment whose daemon sends its spans there.
func (c *Collector) Facts() map[string]string {
	if c == nil {
		return nil
	}
	return map[string]string{TracedFact: "on, every call"}
}

// Spanning is an Engine that has daemons of ours which can be asked for their own spans.
type Spanning interface {
	// Spans says why an environment's daemon can't send its spans, and what would give
	// them; nil where a daemon of ours will, with Kit.Spans. It starts nothing that stays.
	Spans(ctx context.Context, kit *Kit, spec Spec) error
}

func (s shielded) Spans(ctx context.Context, kit *Kit, spec Spec) error {
	x, ok := s.Engine.(Spanning)
	if !ok {
		return &Error{Class: record.Unsupported, Text: s.Info().Title + " has no private daemon that could be asked for spans"}
	}
	return within(ctx, detectGrace, func() error { return x.Spans(ctx, kit, spec) },
		func(p any) error { return &Error{Class: record.HarnessError, Text: panicked(p), Fix: reportIt} },
		func() error { return &Error{Class: record.TimeOut, Text: "asking for it does not come to an end"} })
}
