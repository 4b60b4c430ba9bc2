package importer

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"plimsoll/internal/record"
)

// hyperfineFile is what is used of hyperfine's JSON (--export-json). Its means
// and medians are left alone: they follow from the times.
type hyperfineFile struct {
	Results []struct {
		Command    string         `json:"command"`
		Times      []float64      `json:"times"` // seconds
		ExitCodes  []*int         `json:"exit_codes"`
		Memory     []float64      `json:"memory_usage_byte"`
		Parameters map[string]any `json:"parameters"`
	} `json:"results"`
}

// maxSeconds bounds a time: about 30 years.
const maxSeconds = 1e9

// readHyperfine reads hyperfine's JSON. In one file the commands are what is
// compared, and their parameters are the factors; a file that names workloads
// and environments in its parameters, as our own export does, has them.
func readHyperfine(data []byte, _ string, b *builder) error {
	var f hyperfineFile
	if err := json.Unmarshal(data, &f); err != nil {
		return fmt.Errorf("it is not hyperfine's JSON: %w; make it by `hyperfine --export-json FILE`", err)
	}
	if len(f.Results) == 0 {
		return errors.New("it has no results: make it by `hyperfine --export-json FILE`")
	}
	seen := map[[2]string]bool{}
	for i := range f.Results {
		r := &f.Results[i]
		if len(r.Times) == 0 {
			return fmt.Errorf("result %d (%q) has no times, and a mean alone cannot be analysed; make it by `hyperfine --export-json FILE`", i+1, clean(r.Command))
		}
		if n := len(r.ExitCodes); n > 0 && n != len(r.Times) {
			return fmt.Errorf("result %d (%q) has %d times and %d exit codes", i+1, clean(r.Command), len(r.Times), n)
		}
		p := hyperfineNames(r.Parameters)
		p.workload = cmp.Or(p.workload, "command")
		if p.env == "" && b.several {
			p.workload = r.Command
		} else if p.env == "" {
			p.env = r.Command
		}
		work := b.workload(p.workload, p.params)
		env := b.env(p.env, p.engine, "", p.levels)
		if cell := [2]string{work.ID, env}; seen[cell] {
			return fmt.Errorf("result %d (%q) is the second of its name: give each command a name of its own by `hyperfine --command-name`", i+1, clean(r.Command))
		} else {
			seen[cell] = true
		}
		m := record.Metric{ID: "time", Unit: "ns", Better: record.LowerIsBetter, Title: "time", What: "wall time of the whole command, as hyperfine measured it"}
		if known, ok := record.MetricByID(p.metric); ok {
			m = known
			m.From, m.To = "", ""
		} else if p.metric != "" {
			m.ID, m.Title, m.What = p.metric, p.metric, "as "+p.metric+" of the run that was exported"
		}
		if err := metric(work, m); err != nil {
			return err
		}
		memory := len(r.Memory) == len(r.Times)
		if memory {
			if err := metric(work, record.Metric{ID: "memory", Unit: "bytes", Better: record.LowerIsBetter, Title: "memory", What: "largest resident set, as hyperfine measured it"}); err != nil {
				return err
			}
		}
		for k, s := range r.Times {
			if !(s >= 0 && s <= maxSeconds) {
				return fmt.Errorf("result %d (%q) has the time %g s, which cannot be", i+1, clean(r.Command), s)
			}
			t := record.Trial{Env: env, Workload: work.ID, Values: map[string]float64{m.ID: s * 1e9}}
			if memory && r.Memory[k] >= 0 && !math.IsInf(r.Memory[k], 0) {
				t.Values["memory"] = r.Memory[k]
			}
			if len(r.ExitCodes) > 0 {
				fail(&t, r.ExitCodes[k])
			}
			if err := b.trial(t); err != nil {
				return err
			}
		}
	}
	return nil
}

// fail takes the times from a trial whose command failed: hyperfine keeps them
// with --ignore-failure, but how fast a command fails is not its speed.
func fail(t *record.Trial, exit *int) {
	t.Exit = exit
	text := "a signal ended the command"
	if exit != nil {
		text = fmt.Sprintf("the command's exit status was %d", *exit)
	}
	if exit == nil || *exit != 0 {
		t.Values = nil
		t.Failure = &record.Failure{Class: record.Crash, Text: text}
	}
}

// names are those that the parameters of a command carry.
type names struct {
	workload, env, engine, metric string
	levels, params                map[string]string
}

func hyperfineNames(parameters map[string]any) names {
	n := names{levels: map[string]string{}, params: map[string]string{}}
	for k, v := range parameters {
		s, ok := v.(string)
		if !ok {
			s = fmt.Sprint(v) // older ones wrote numbers
		}
		switch {
		case k == "workload":
			n.workload = s
		case k == "environment":
			n.env = s
		case k == "engine":
			n.engine = s
		case k == "metric":
			n.metric = clean(s)
		case strings.HasPrefix(k, "param_"):
			n.params[strings.TrimPrefix(k, "param_")] = s
		default:
			n.levels[strings.TrimPrefix(k, "factor_")] = s
		}
	}
	return n
}
