package workload

import (
	"errors"
	"fmt"
	"strings"
)

// parseIMB reads one benchmark of the Intel MPI Benchmarks' MPI-1 part
// (https://www.intel.com/content/www/us/en/docs/mpi-library/user-guide-benchmarks,
// "Output"): a line "# Benchmarking NAME", a head line that begins with #bytes or
// #repetitions, and a line a size. Of several numbers of processes the last table
// counts, which is that of all. The keys are latency, latency-min, latency-max
// (ns) and bandwidth (bytes/s), each with ".SIZE" behind, and without it for the
// last line.
func parseIMB(out []byte) (map[string]float64, error) {
	var values map[string]float64
	var columns []string
	name := ""
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		switch {
		case len(f) > 2 && f[0] == "#" && f[1] == "Benchmarking":
			if name != "" && name != f[2] {
				return nil, fmt.Errorf("it has the tables of more than one benchmark, %.40s and %.40s", name, f[2])
			}
			name, columns, values = f[2], nil, map[string]float64{}
		case name == "" || len(f) == 0:
		case f[0] == "#bytes" || f[0] == "#repetitions":
			columns = f
		case strings.HasPrefix(f[0], "#"):
		case columns == nil || len(f) != len(columns):
			if columns != nil {
				return nil, fmt.Errorf("a line has %d columns and the head %d: %.80q", len(f), len(columns), line)
			}
		default:
			if err := imbRow(values, columns, f); err != nil {
				return nil, err
			}
		}
	}
	if len(values) == 0 {
		return nil, errors.New("there is no table of the Intel MPI Benchmarks")
	}
	return checked(values)
}

func imbRow(values map[string]float64, columns, f []string) error {
	size := ""
	for i, c := range columns {
		v, err := parseNumber(f[i])
		if err != nil {
			return err
		}
		key, by := "", 1e3
		switch c {
		case "#bytes":
			size = "." + f[i]
		case "t[usec]", "t_avg[usec]":
			key = "latency"
		case "t_min[usec]":
			key = "latency-min"
		case "t_max[usec]":
			key = "latency-max"
		case "Mbytes/sec": // a million, since version 4.1
			key, by = "bandwidth", 1e6
		}
		if key != "" {
			values[key], values[key+size] = v*by, v*by
		}
	}
	return nil
}
