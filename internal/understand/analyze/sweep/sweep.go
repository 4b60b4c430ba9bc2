// Package sweep finds the workloads of a run that differ in one numeric
// parameter alone: the points of a curve.
//
// It is opinionated: a parameter is numeric where each of its levels is a number
// or a quantity with a unit, and nothing is fitted or interpolated between them.
//
// Why it is so: docs/decisions/reports.md.
package sweep

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Work is a workload of a run.
type Work struct {
	Name   string // in the catalogue, which choices of its parameters have in common
	Params map[string]string
}

// Sweep are the workloads of one name that differ in one parameter.
type Sweep struct {
	Name, Parameter string
	// Fixed are the other parameters, as in "files=own, threads=1".
	Fixed string
	// Unit is that of the places: bytes, ns, or "" for a number.
	Unit string
	At   []Place // ascending
}

// Place is one level of the parameter.
type Place struct {
	Level string
	X     float64
	Work  int // its place in the list that was given
}

// Title names the sweep.
func (s *Sweep) Title() string {
	if s.Fixed == "" {
		return s.Name
	}
	return s.Name + ", " + s.Fixed
}

var quantity = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)(|B|kB|MB|GB|TB|KiB|MiB|GiB|TiB|[kKMGT])$`)

// The single letters are those of fio and sysbench, powers of 1024.
var bytesIn = map[string]float64{
	"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
	"k": 1 << 10, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40,
}

// number reads a level: a number, a size in bytes, or a time in ns.
func number(level string) (x float64, unit string, ok bool) {
	if m := quantity.FindStringSubmatch(level); m != nil {
		x, err := strconv.ParseFloat(m[1], 64)
		if m[2] == "" {
			return x, "", err == nil
		}
		return x * bytesIn[m[2]], "bytes", err == nil
	}
	if d, err := time.ParseDuration(level); err == nil && d >= 0 {
		return float64(d), "ns", true
	}
	return 0, "", false
}

// Of lists the sweeps over a parameter, or over each numeric one where none is
// named, in the order of their first workloads. It has at least two places.
func Of(works []Work, parameter string) []Sweep {
	var out []Sweep
	index := map[string]int{}
	for i, w := range works {
		for _, p := range slices.Sorted(maps.Keys(w.Params)) {
			if parameter != "" && p != parameter {
				continue
			}
			x, unit, ok := number(w.Params[p])
			if !ok {
				continue
			}
			s := Sweep{Name: w.Name, Parameter: p, Fixed: fixed(w.Params, p), Unit: unit}
			key := fmt.Sprintf("%q", []string{s.Name, s.Parameter, s.Fixed, s.Unit})
			k, seen := index[key]
			if !seen {
				k = len(out)
				index[key] = k
				out = append(out, s)
			}
			out[k].At = append(out[k].At, Place{w.Params[p], x, i})
		}
	}
	for k := range out {
		slices.SortStableFunc(out[k].At, func(a, b Place) int { return cmp.Compare(a.X, b.X) })
	}
	return slices.DeleteFunc(out, func(s Sweep) bool { return s.At[0].X == s.At[len(s.At)-1].X })
}

func fixed(params map[string]string, but string) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(params)) {
		if k != but {
			out = append(out, k+"="+params[k])
		}
	}
	return strings.Join(out, ", ")
}

// Parameters lists them sweeps over, each once.
func Parameters(list []Sweep) []string {
	var out []string
	for _, s := range list {
		if !slices.Contains(out, s.Parameter) {
			out = append(out, s.Parameter)
		}
	}
	return out
}
