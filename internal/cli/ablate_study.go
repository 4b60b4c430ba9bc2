//go:build linux

package cli

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/study"
)

// ablated is what the arguments name.
type ablated struct {
	engine, workload string
	levels, params   []string // NAME=LEVEL
}

// ablatedBy reads the arguments: a word after the engine is the workload, and what is
// no factor is one of its parameters.
func ablatedBy(args []string) ablated {
	x := ablated{engine: args[0], workload: lifeCycle}
	rest := args[1:]
	if len(rest) > 0 && !strings.Contains(rest[0], "=") {
		x.workload, rest = rest[0], rest[1:]
	}
	for _, a := range rest {
		name, _, _ := strings.Cut(a, "=")
		if x.workload != lifeCycle && strings.Contains(a, "=") && !slices.Contains(engine.Factors, name) {
			x.params = append(x.params, a)
		} else {
			x.levels = append(x.levels, a)
		}
	}
	return x
}

// work is the workload as a study's list has it.
func (x ablated) work() string {
	if len(x.params) == 0 {
		return x.workload
	}
	return "{name: " + x.workload + ", parameters: {" + strings.ReplaceAll(strings.Join(x.params, ", "), "=", ": ") + "}}"
}

// lifeCycle is the workload that does nothing but start and end.
const lifeCycle = "hello"

// study is the one that is run. No container has a limit: what can do without a
// control group can have none.
func (f *ablateFlags) study(args []string) (string, error) {
	x := ablatedBy(args)
	levels, err := levelLines(append([]string{x.engine}, x.levels...))
	if err != nil {
		return "", err
	}
	if strings.ContainsAny(x.workload+strings.Join(x.params, "")+strings.Join(f.mechanisms, "")+strings.Join(f.metrics, ""), yamlSigns) {
		return "", fail(Usage, "a workload, its parameters, --mechanism and --metric take names: plimsoll workloads lists them")
	}
	small, metrics, warmup := "", "", 2
	if f.small {
		small = ", small: true"
	}
	if len(f.metrics) > 0 {
		metrics = "metrics: [" + strings.Join(f.metrics, ", ") + "]\n"
	}
	title := "What " + x.engine + " is made of"
	if x.workload != lifeCycle { // trials of seconds, not of milliseconds
		title, warmup = "What "+x.engine+" costs "+x.workload, 1
	}
	return fmt.Sprintf(`plimsoll: 1
name: ablate-%s
title: %s
protocol: {blocks: %d, warmup: %d, seed: %d%s, limits: {cpus: none, memory: none}}
%sworkloads: [%s]
environments:
  - engine: %s
    ablate: [%s]
%s`, x.engine, title, f.blocks, warmup, f.seed, small, metrics, x.work(), x.engine, strings.Join(f.mechanisms, ", "), levels), nil
}

// command is what measures the same again.
func (f *ablateFlags) command(args []string, seed uint64) string {
	s := "plimsoll ablate " + strings.Join(args, " ") + fmt.Sprintf(" --blocks %d --seed %d", f.blocks, seed)
	if f.small {
		s += " --small"
	}
	if len(f.metrics) > 0 {
		s += " --metric " + strings.Join(f.metrics, ",")
	}
	if m := strings.Join(f.mechanisms, ","); m != study.AllMechanisms {
		s += " --mechanism " + m
	}
	return s
}

// yamlSigns mean something in a study, which a name that is put into one must not.
const yamlSigns = "\n{}[]#:,\"' "

// levelLines writes FACTOR=LEVEL after an engine as the lines of a study's entry.
func levelLines(args []string) (string, error) {
	if strings.ContainsAny(args[0], yamlSigns) {
		return "", fail(Usage, "%q is not an engine (plimsoll engines lists them)", args[0])
	}
	var text strings.Builder
	for _, a := range args[1:] {
		factor, level, ok := strings.Cut(a, "=")
		if !ok || factor == "" || level == "" || strings.ContainsAny(a, yamlSigns) {
			return "", fail(Usage, "%q is not a factor with its level: expected one like network=none (plimsoll engines %s lists them)", a, args[0])
		}
		fmt.Fprintf(&text, "    %s: %s\n", factor, level)
	}
	return text.String(), nil
}
