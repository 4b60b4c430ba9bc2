package storage

import (
	"bytes"
	"strconv"
	"strings"
)

const lustreManual = "https://doc.lustre.org/lustre_manual.xhtml#lustreproc"

// lustreStat is one line of a stats file: how often, and what that comes to in
// the line's unit where it has one.
type lustreStat struct {
	count, sum int64
	unit       string
	summed     bool
}

// parseLustreStats reads a stats file of Lustre: a line "NAME COUNT samples
// [UNIT] MIN MAX SUM SUMSQUARE", where the numbers after the unit may be
// missing, below a few lines of times. started is the line start_time, which
// newer versions have and which changes when the counters are cleared.
func parseLustreStats(b []byte) (stats map[string]lustreStat, started string, ok bool) {
	stats = map[string]lustreStat{}
	for line := range bytes.Lines(b) {
		f := strings.Fields(string(line))
		switch {
		case len(f) == 0:
			continue
		case f[0] == "start_time" && len(f) > 1:
			started = f[1]
			continue
		case len(f) < 3 || f[2] != "samples":
			if strings.HasSuffix(f[0], "_time") {
				continue // snapshot_time, elapsed_time
			}
			return nil, "", false
		}
		var s lustreStat
		var good bool
		if s.count, good = counted(f[1]); !good {
			return nil, "", false
		}
		if len(f) > 3 {
			s.unit = strings.Trim(f[3], "[]")
		}
		if len(f) > 6 {
			if s.sum, s.summed = counted(f[6]); !s.summed {
				return nil, "", false
			}
		}
		stats[f[0]] = s
	}
	return stats, started, len(stats) > 0 || started != "" || bytes.Contains(b, []byte("snapshot_time"))
}

// ns is a sum of times in ns.
func (s lustreStat) ns() (int64, bool) {
	if !s.summed {
		return 0, false
	}
	switch s.unit {
	case "usec", "usecs":
		return times(s.sum, 1000)
	case "nsec", "nsecs":
		return s.sum, true
	}
	return 0, false
}

// counted reads a number that counts: decimal, not negative, and not beyond
// what can be added up.
func counted(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n >= 0
}

// times multiplies, and says whether the product is one.
func times(n, by int64) (int64, bool) {
	p := n * by
	return p, n == 0 || by == 0 || (p/by == n && p >= 0)
}

// together adds the counts of the lines that are picked.
func together(stats map[string]lustreStat, pick func(name string) bool) int64 {
	var n int64
	for name, s := range stats {
		if pick(name) {
			n += s.count
		}
	}
	return n
}
