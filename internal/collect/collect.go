//go:build linux

package collect

import (
	"io"
	"time"

	"plimsoll/internal/record"
)

// Options say how to sample.
type Options struct {
	// Interval is the time between two samples; 0 means 100 ms. It is at
	// least 5 ms.
	Interval time.Duration
}

// Collector samples for any number of watches at once, from one thread of its
// own. While nothing is watched, it sleeps.
type Collector struct{}

// New makes a collector.
func New(o Options) (*Collector, error) { panic("not yet") }

// Know finds the engine's daemons of a subject beforehand, so that Watch costs
// next to nothing between a trial's quiet and its request.
func (c *Collector) Know(s Subject) error { panic("not yet") }

// Watch begins a series, right before the trial's request. It does not wait
// for the payload, which is found when it comes.
func (c *Collector) Watch(s Subject) *Watch { panic("not yet") }

// Close ends the thread.
func (c *Collector) Close() error { panic("not yet") }

// Watch is a series that is being taken.
type Watch struct{}

// Found tells of a process of the payload, for those who know it.
func (w *Watch) Found(pid int) { panic("not yet") }

// End takes the last sample and gives the series. request is the event that
// times count from, ns of CLOCK_MONOTONIC; 0 means when Watch was called.
func (w *Watch) End(request int64) *Series { panic("not yet") }

// Series is a finished series.
type Series struct {
	record.Series
}

// Name is the collector's name for record.SamplesName and CreateSamples:
// "machine", or "machine-ROLE".
func (s *Series) Name() string { return s.Collector }

// WriteTo writes the series as a file below samples/.
func (s *Series) WriteTo(w io.Writer) (int64, error) { panic("not yet") }

// Values sums the series up, by the ids of Metrics. What was not seen is left
// out, never 0. With a Role the ids are the same: the caller chooses whose it
// records.
func (s *Series) Values() map[string]float64 { panic("not yet") }

// Metrics are the metrics that Values may give.
func Metrics() []record.Metric { panic("not yet") }
