package workload

import (
	"errors"
	"regexp"
	"strings"
)

var mpiBenchLine = regexp.MustCompile(`^(\w+)\s.*\bBytes:\s*(\d+)\s+Iters:\s*(\d+)\s+Avg:\s*([0-9.]+)\s+Min:\s*([0-9.]+)\s+Max:\s*([0-9.]+)`)

// parseMPIBench reads what mpiBench prints (https://github.com/LLNL/mpiBench,
// README.md, and crunch_mpiBench for the fields of a line): a line for each
// operation and size, times in microseconds. The keys are OPERATION.latency,
// OPERATION.latency-min and -max (ns) with the operation in lower case, each with
// ".SIZE" behind, and without it for the operation's last line.
func parseMPIBench(out []byte) (map[string]float64, error) {
	if !strings.Contains(string(out), "START mpiBench") {
		return nil, errors.New("it does not begin as mpiBench does, with START mpiBench")
	}
	values := map[string]float64{}
	for line := range strings.Lines(string(out)) {
		m := mpiBenchLine.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		operation := strings.ToLower(m[1])
		for i, key := range []string{"latency", "latency-min", "latency-max"} {
			v, err := parseNumber(m[4+i])
			if err != nil {
				return nil, err
			}
			values[operation+"."+key], values[operation+"."+key+"."+m[2]] = v*1e3, v*1e3
		}
	}
	if len(values) == 0 {
		return nil, errors.New("mpiBench has printed no line of an operation")
	}
	return checked(values)
}
