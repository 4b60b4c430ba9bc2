package workload

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// largest bounds a value: beyond it a float counts no more units, and no
// machine does as much.
const largest = 1e18

// number is what programs print. Go's own "inf", "0x1p3" and "1_000" are none.
var isNumber = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$`).MatchString

// outputError says that a metric can't be had from what the workload printed:
// a trial fails with class record.BadOutput then.
type outputError struct {
	Metric string
	Text   string
}

// Error gives one sentence.
func (e *outputError) Error() string { return "metric " + e.Metric + ": " + e.Text }

// Values takes the metrics out of what the roles printed, by the role's name.
// Every metric is there, or the error is an *outputError: a value that is
// missing, no number, negative, not finite or beyond all reason.
func (p *Plan) Values(outputs map[string][]byte) (map[string]float64, error) {
	values := make(map[string]float64, len(p.Metrics))
	parsed := map[string]map[string]float64{}
	for _, x := range p.Metrics {
		role := cmp.Or(x.Role, p.Roles[len(p.Roles)-1].Name)
		out := outputs[role]
		bad := func(format string, a ...any) error {
			return &outputError{x.Metric.ID, fmt.Sprintf(format, a...)}
		}
		if len(out) == 0 {
			return nil, bad("there is no output of %s", role)
		}
		var found []float64
		var err error
		if x.Parser == "" {
			found, err = x.find(out)
		} else {
			key := role + " " + x.Parser
			if parsed[key] == nil {
				if parsed[key], err = parse(x.Parser, out); err != nil {
					return nil, bad("%s", err)
				}
			}
			if v, ok := parsed[key][x.Key]; ok {
				found = []float64{v}
			} else {
				err = fmt.Errorf("the output has no %s", x.Key)
			}
		}
		if err != nil {
			return nil, bad("%s", err)
		}
		v := x.choose(found)
		if x.Scale != 0 {
			v *= x.Scale
		}
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			return nil, bad("%g is not a finite number", v)
		case v < 0:
			return nil, bad("%g is negative", v)
		case v > largest:
			return nil, bad("%g is beyond all reason", v)
		}
		values[x.Metric.ID] = v
	}
	return values, nil
}

// find gives all numbers of a pattern, at least one.
func (x *Extract) find(out []byte) ([]float64, error) {
	if x.JSON != "" {
		return jsonNumbers(out, x.JSON)
	}
	re, err := regexp.Compile(x.Regexp)
	if err != nil {
		return nil, err
	}
	var found []float64
	for _, m := range re.FindAllSubmatch(out, -1) {
		v, err := parseNumber(string(m[1]))
		if err != nil {
			return nil, err
		}
		found = append(found, v)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("the output has no match of %s", x.Regexp)
	}
	return found, nil
}

func (x *Extract) choose(found []float64) float64 {
	sum := 0.0
	for _, v := range found {
		sum += v
	}
	switch x.All {
	case "first":
		return found[0]
	case "sum":
		return sum
	case "mean":
		return sum / float64(len(found))
	case "min":
		return slices.Min(found)
	case "max":
		return slices.Max(found)
	}
	return found[len(found)-1]
}

func parseNumber(s string) (float64, error) {
	s = strings.TrimSpace(s)
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !isNumber(s) {
		if len(s) > 40 {
			s = s[:40] + "…"
		}
		return 0, fmt.Errorf("%q is not a number", s)
	}
	return v, nil
}
