package workload

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
)

// parseStressNG reads the table that stress-ng prints with --metrics-brief.
// The keys are the stressors: their bogus operations a second of real time, of
// all workers together; and geometric-mean, of all of them.
func parseStressNG(out []byte) (map[string]float64, error) {
	values := map[string]float64{}
	inTable, logs := false, 0.0
	for line := range bytes.Lines(out) {
		// stress-ng: metrc: [PID] stressor ops real user system rate rate
		head, rest, found := strings.Cut(string(line), "] ")
		if !found || !strings.HasPrefix(head, "stress-ng: metrc: [") {
			continue
		}
		f := strings.Fields(rest)
		switch {
		case len(f) > 2 && f[0] == "stressor" && f[1] == "bogo":
			inTable = true
			continue
		case len(f) > 0 && f[0] == "miscellaneous":
			inTable = false
		}
		if !inTable || len(f) != 7 || strings.HasPrefix(f[0], "(") {
			continue
		}
		rate, err := parseNumber(f[5])
		if err != nil {
			return nil, fmt.Errorf("stressor %s: %w", f[0], err)
		}
		if rate <= 0 {
			return nil, fmt.Errorf("stressor %s did %g operations a second", f[0], rate)
		}
		if _, twice := values[f[0]]; twice || f[0] == "geometric-mean" {
			return nil, fmt.Errorf("stressor %s is there twice", f[0])
		}
		values[f[0]] = rate
		logs += math.Log(rate)
	}
	if len(values) == 0 {
		return nil, errors.New("it holds no table of stress-ng's")
	}
	values["geometric-mean"] = math.Exp(logs / float64(len(values)))
	return checked(values)
}
