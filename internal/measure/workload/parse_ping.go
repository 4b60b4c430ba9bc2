package workload

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
)

var (
	pingTime    = regexp.MustCompile(`^[0-9]+ bytes from .* time=([0-9.]+) ms`)
	pingSummary = regexp.MustCompile(`^([0-9]+) packets transmitted, ([0-9]+) received,`)
)

// parsePing reads what ping of iputils prints: mean, p50, p95 and max of the
// round trips in ns (of the lines, which have them to the microsecond), and
// loss in percent.
func parsePing(out []byte) (map[string]float64, error) {
	var trips []float64
	loss := math.NaN()
	sum := 0.0
	for line := range bytes.Lines(out) {
		if bytes.Contains(line, []byte("(DUP!)")) {
			continue
		}
		if m := pingTime.FindSubmatch(line); m != nil {
			ms, err := parseNumber(string(m[1]))
			if err != nil {
				return nil, err
			}
			trips = append(trips, ms*1e6)
			sum += ms * 1e6
		}
		if m := pingSummary.FindSubmatch(line); m != nil {
			sent, err1 := parseNumber(string(m[1]))
			received, err2 := parseNumber(string(m[2]))
			if err := errors.Join(err1, err2); err != nil {
				return nil, err
			}
			if sent < 1 || received > sent {
				return nil, fmt.Errorf("%g received of %g sent", received, sent)
			}
			loss = 100 * (sent - received) / sent
		}
	}
	switch {
	case math.IsNaN(loss):
		return nil, errors.New("the summary is missing")
	case len(trips) == 0:
		return nil, errors.New("no request was answered")
	}
	slices.Sort(trips)
	// The nearest rank: a round trip that there was.
	quantile := func(q float64) float64 { return trips[max(0, int(math.Ceil(q*float64(len(trips))))-1)] }
	return map[string]float64{
		"mean": sum / float64(len(trips)), "p50": quantile(0.5), "p95": quantile(0.95), "max": trips[len(trips)-1], "loss": loss,
	}, nil
}
