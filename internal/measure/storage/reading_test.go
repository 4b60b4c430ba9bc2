package storage

import (
	"maps"
	"strings"
	"testing"
)

func TestDifference(t *testing.T) {
	one := func(born string, n int64) Reading {
		return Reading{"x": {Born: born, Counters: map[string]int64{DataWritten: n}}}
	}
	hour := func(now, last int64) Reading {
		return Reading{"x": {Counters: map[string]int64{DataWritten: now}, Earlier: map[string]int64{DataWritten: last}}}
	}
	for _, c := range []struct {
		name          string
		before, after Reading
		want          int64  // -1: not known
		says          string // what a remark has
	}{
		{"it grows", one("a", 10), one("a", 25), 15, ""},
		{"nothing happened", one("a", 10), one("a", 10), 0, ""},
		{"mounted within the window", Reading{}, one("a", 7), 7, ""},
		{"unmounted within the window", one("a", 10), Reading{}, -1, "went away"},
		{"cleared", one("a", 10), one("a", 3), -1, "began anew"},
		{"cleared, and beyond where it was", one("a", 10), one("b", 30), -1, "began anew"},
		{"an hour goes on", hour(10, 500), hour(30, 500), 20, ""},
		{"an hour ends", hour(10, 500), hour(3, 40), 33, ""},
		{"an hour ends and the next has more", hour(10, 500), hour(60, 40), 90, ""},
		{"an hour ends, with a restart", hour(10, 500), hour(3, 4), -1, "began anew"},
	} {
		got, remarks := difference("s", c.before, c.after)
		n, ok := got[DataWritten]
		if ok != (c.want >= 0) || ok && n != c.want {
			t.Errorf("%s: %v, not %d", c.name, got, c.want)
		}
		if said := strings.Join(remarks, " "); (c.says == "") != (said == "") || !strings.Contains(said, c.says) {
			t.Errorf("%s: it says %q", c.name, said)
		}
	}
}

// One part that is not known makes the whole unknown, never too small.
func TestDifferenceWhole(t *testing.T) {
	c := map[string]int64{DataWritten: 1}
	got, remarks := difference("s", Reading{"a": {Counters: c}, "b": {Counters: c}}, Reading{"a": {Counters: c}})
	if got != nil || len(remarks) != 1 {
		t.Errorf("%v, %q", got, remarks)
	}
}

func TestValues(t *testing.T) {
	got := Values("mds1-", map[string]int64{MetadataRequests: 4, MetadataWait: 100, DataRequests: 0, DataWait: 0})
	want := map[string]float64{"mds1-metadata-requests": 4, "mds1-metadata-wait": 100, "mds1-metadata-request-wait": 25, "mds1-data-requests": 0, "mds1-data-wait": 0}
	if !maps.Equal(got, want) {
		t.Errorf("%v, not %v", got, want)
	}
}
