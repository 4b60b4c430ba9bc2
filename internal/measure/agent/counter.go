//go:build linux

package agent

import (
	"context"
	"net/http"

	"plimsoll/internal/record"
)

// Counter is whoever counts in windows: an agent elsewhere (Client), or this
// process itself (Local).
type Counter interface {
	About(context.Context) (*About, error)
	Begin(context.Context, BeginAsk) (*BeginAnswer, error)
	End(context.Context, EndAsk) (*Window, error)
	// Compare says how far its clock is from ours.
	Compare(context.Context) (record.ClockOffset, error)
	Close() error
}

// Compare measures how far the agent's clock is from ours.
func (c *Client) Compare(ctx context.Context) (record.ClockOffset, error) {
	return compare(ctx, func(ctx context.Context) (int64, error) {
		var a ClockAnswer
		err := c.call(ctx, http.MethodGet, pathClock, nil, &a)
		return a.Now, err
	})
}

// Local is this machine's own book: its clock is ours.
type Local struct{ *Book }

// Compare says that there is nothing between the two.
func (Local) Compare(context.Context) (record.ClockOffset, error) {
	return record.ClockOffset{AtNS: now()}, nil
}
