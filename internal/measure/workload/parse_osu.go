package workload

import (
	"errors"
	"fmt"
	"strings"
)

// parseOSU reads a table of the OSU micro-benchmarks
// (https://mvapich.cse.ohio-state.edu/benchmarks/, README of 5.x to 7.x): the head
// "# OSU MPI … Test vN", a line "# Size …" with the columns' names, a line a size;
// a barrier has no sizes. The keys are latency, latency-min, latency-max (ns) and
// bandwidth (bytes/s; their MB is a million), each with ".SIZE" behind, and
// without it for the last line, where a program was told of one size.
func parseOSU(out []byte) (map[string]float64, error) {
	values := map[string]float64{}
	var columns []string
	tables := 0
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if head, ok := strings.CutPrefix(line, "#"); ok {
			if strings.Contains(head, "OSU MPI") {
				if tables++; tables > 1 {
					return nil, errors.New("it has the tables of more than one program")
				}
			}
			if c := osuColumns(head); len(c) > 0 {
				columns = c
			}
			continue
		}
		f := strings.Fields(line)
		if tables == 0 || columns == nil || len(f) == 0 {
			continue
		}
		if len(f) != len(columns) {
			return nil, fmt.Errorf("a line has %d columns and the head %d: %.80q", len(f), len(columns), line)
		}
		size := ""
		for i, c := range columns {
			v, err := parseNumber(f[i])
			if err != nil {
				return nil, err
			}
			switch c {
			case "size":
				size = "." + f[i]
			case "bandwidth":
				values[c], values[c+size] = v*1e6, v*1e6
			case "":
			default:
				values[c], values[c+size] = v*1e3, v*1e3
			}
		}
	}
	if len(values) == 0 {
		return nil, errors.New("there is no table of the OSU micro-benchmarks")
	}
	return checked(values)
}

// osuColumns names the columns of a head line by our keys; "" is one that nobody
// asks for. nil is no head line.
func osuColumns(head string) (columns []string) {
	// The names have spaces, and between two columns there are at least two, or a
	// parenthesis has closed.
	rest := strings.TrimSpace(head)
	known := []struct{ name, key string }{
		{"Size", "size"}, {"Avg Latency(us)", "latency"}, {"Min Latency(us)", "latency-min"}, {"Max Latency(us)", "latency-max"},
		{"Latency (us)", "latency"}, {"Latency(us)", "latency"}, {"Bandwidth (MB/s)", "bandwidth"}, {"Bandwidth(MB/s)", "bandwidth"},
		{"Messages/s", ""}, {"Message Rate", ""}, {"Iterations", ""},
		{"P50 Tail Lat(us)", ""}, {"P90 Tail Lat(us)", ""}, {"P99 Tail Lat(us)", ""},
	}
next:
	for rest != "" {
		for _, k := range known {
			if after, ok := strings.CutPrefix(rest, k.name); ok {
				columns, rest = append(columns, k.key), strings.TrimSpace(after)
				continue next
			}
		}
		return nil
	}
	return columns
}
