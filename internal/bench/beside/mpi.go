package beside

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"

	"plimsoll/internal/common/stats"
)

// JudgedFrom is the size of a message, in bytes, below which the two are shown and not
// judged: what is measured there is the loop too.
const JudgedFrom = 4096

var netpipeLine = regexp.MustCompile(`(?m)^ *\d+: +(\d+) bytes +\d+ times --> +[0-9.]+ Mbps in +([0-9.]+) usec`)

// ReadNetPIPE gives the time of a message in ns.
func ReadNetPIPE(text []byte, size int) (float64, error) {
	all := netpipeLine.FindAllSubmatch(text, -1)
	for _, m := range all {
		if string(m[1]) == strconv.Itoa(size) {
			v, err := strconv.ParseFloat(string(m[2]), 64)
			if err != nil || v <= 0 {
				return 0, fmt.Errorf("NetPIPE's time is %q", m[2])
			}
			return v * 1e3, nil
		}
	}
	return 0, fmt.Errorf("NetPIPE has no line of %d bytes: %.300q", size, text)
}

// ShowLatency prints both with the interval of their ratio and says whether it
// misses the goal.
func ShowLatency(w io.Writer, env string, size int, ours, theirs []float64) (missed int) {
	var logs []float64
	for k := range ours {
		logs = append(logs, math.Log(ours[k]/theirs[k]))
	}
	said, verdict := agrees(logs)
	switch {
	case size < JudgedFrom:
		verdict = "not judged"
	case verdict == "MISSED":
		missed = 1
	}
	fmt.Fprintf(w, "%-12s %7d bytes  ours %9.3f µs, NetPIPE %9.3f µs, %s %s\n", env, size, stats.Median(stats.Sorted(ours))/1e3, stats.Median(stats.Sorted(theirs))/1e3, said, verdict)
	return missed
}
