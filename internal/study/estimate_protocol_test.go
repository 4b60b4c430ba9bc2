package study

import (
	"testing"
	"time"
)

func TestProtocolTime(t *testing.T) {
	for _, c := range []struct {
		params map[string]string
		want   time.Duration
	}{
		{nil, time.Second},
		{map[string]string{"seconds": "10", "protocol": "tcp"}, time.Second},
		{map[string]string{"count": "100", "rest": "10s", "mode": "detached"}, 120 * time.Second},
		{map[string]string{"count": "100"}, time.Second},
		{map[string]string{"rate": "10", "seconds": "30"}, 31 * time.Second},
		{map[string]string{"rate": "search", "seconds": "10"}, 101 * time.Second},
	} {
		if got := time.Duration(protocolTime(c.params, time.Second)); got != c.want {
			t.Errorf("%v: %v, want %v", c.params, got, c.want)
		}
	}
}
