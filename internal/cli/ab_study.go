//go:build linux

package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/common/yamlfile"
	"plimsoll/internal/measure/build"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/record"
)

// abLevels are what the two builds are called, the one that is held against first.
var abLevels = []string{"old", "new"}

// abWidth is the half-width at which a difference without a gate is known well enough.
const abWidth = "1%"

// study is the one that is run: two environments that differ in the build alone.
func (f *abFlags) study(all []engine.Engine, args []string) (string, error) {
	if err := f.possible(); err != nil {
		return "", err
	}
	until := ""
	if f.failAbove == "" {
		until = ", until: " + abWidth
	}
	return buildsStudy{
		by: "ab", title: "Two builds of " + args[0], course: f.ends(until), program: args[0], engine: f.engine, levels: abLevels,
		rest: args[3:], workload: f.workload, metrics: f.metrics, seed: f.seed, tuned: f.tuned,
	}.text(all)
}

// budgeted says what is wrong with a time that measuring may take.
func budgeted(d time.Duration) error {
	if d < time.Second || d > study.MaxTimeBudget {
		return fail(Usage, "--budget is %s: expected from 1s to 720h, such as 60s", d)
	}
	return nil
}

// buildsStudy is a study of environments that differ in the build alone. No baseline is
// in it, since pairs of the same block need none.
type buildsStudy struct {
	by, title, course string
	program, engine   string   // the engine may be empty: the one with the least around it
	levels            []string // of build
	rest              []string // NAME=LEVEL, of other factors and of the workload
	workload          string
	metrics           []string
	seed              uint64
	tuned             bool
}

func (b buildsStudy) text(all []engine.Engine) (string, error) {
	of, err := runs(all, b.program, b.engine)
	if err != nil {
		return "", err
	}
	x := ablatedBy(slices.Concat(of[:1], []string{b.workload}, b.rest))
	of = slices.DeleteFunc(of, func(own string) bool { // what the user names is what it shall be
		factor, _, ok := strings.Cut(own, "=")
		return ok && slices.ContainsFunc(x.levels, func(l string) bool { return strings.HasPrefix(l, factor+"=") })
	})
	levels, err := levelLines(slices.Concat(of, x.levels))
	if err != nil {
		return "", err
	}
	if strings.ContainsAny(x.workload+strings.Join(x.params, "")+strings.Join(b.metrics, ""), yamlSigns) {
		return "", fail(Usage, "--workload, its parameters and --metric take names: plimsoll workloads lists them")
	}
	metrics := ""
	if len(b.metrics) > 0 {
		metrics = "metrics: [" + strings.Join(b.metrics, ", ") + "]\n"
	}
	return fmt.Sprintf(`plimsoll: 1
name: %[1]s-%[2]s
title: %[3]s
protocol: {%[4]s, warmup: 2, seed: %[5]d, tuned: %[6]v}
baselines: []
%[7]sworkloads: [%[8]s]
environments:
  - engine: %[9]s
%[10]s    %[11]s: [%[12]s]
`, b.by, b.program, b.title, b.course, b.seed, b.tuned, metrics, x.work(), of[0], levels, engine.Build, strings.Join(b.levels, ", ")), nil
}

// runs are the engine that runs a program, and the levels by which it runs that one:
// the engine that was asked for, else the one that has the least around it, which the
// catalogue names first.
func runs(all []engine.Engine, program, asked string) ([]string, error) {
	if of := slices.IndexFunc(all, func(e engine.Engine) bool { return e.Info().Name == program }); asked == "" && of >= 0 {
		all = slices.Concat(all[of:of+1], all) // its own, and none that only uses it
	}
	var able []string
	for _, e := range all {
		i := e.Info()
		p := i.Runs(program)
		switch {
		case p == nil:
			continue
		case asked != "" && asked != i.Name:
			able = append(able, i.Name)
		case p.Of != "":
			return []string{i.Name, p.Of + "=" + program}, nil
		default:
			of := []string{i.Name}
			for _, factor := range slices.Sorted(maps.Keys(p.With)) {
				of = append(of, factor+"="+p.With[factor])
			}
			return of, nil
		}
	}
	return nil, fail(Usage, "--engine is %q: expected one that can run a build of %s, %s", asked, program, yamlfile.OneOf(able))
}

// noEngine refuses the name of an engine where a program is to be named: that of two
// servers at two sockets, for instance, would be open.
func noEngine(all []engine.Engine, name string) error {
	if slices.ContainsFunc(engine.AllPrograms(all), func(p engine.Program) bool { return p.Name == name }) {
		return nil
	}
	for _, e := range all {
		if of := e.Info().ProgramsWith(nil); e.Info().Name == name && len(of) > 0 {
			return withHint(fail(Usage, "%s is an engine, and builds are of its programs", name), "plimsoll ab %s OLD NEW --engine %s", of[0].Name, name)
		}
	}
	return nil
}

// lacksOne says that there are not both to measure.
func lacksOne(p *study.Plan) bool { return len(p.Environments) < len(abLevels) }

// boundAgain are both as the command that repeats it names them, with their digests.
func boundAgain(builds []record.Build, sets *abDirectories) (out []string) {
	if sets != nil {
		return sets.texts(builds)
	}
	for _, b := range builds {
		texts := build.Texts(b)
		if b.Configured() {
			texts = texts[1:] // the program is the one on the PATH
		}
		out = append(out, strings.TrimPrefix(texts[0], b.Name()+"="))
	}
	return out
}

// command is what measures the same again: of builds that are as they were.
func (f *abFlags) command(program string, bound, rest []string, seed uint64) string {
	var gate shellLine
	gate.add(f.failAbove != "", "--fail-above", f.failAbove)
	gate.add(f.strict, "--strict")
	gate.add(f.failures != "", "--allow-failures", f.failures)
	return f.repeated(slices.Concat([]string{"plimsoll", "ab", program}, bound, rest), gate, abBudget, seed)
}

// shellLine is a command line that is put together.
type shellLine []string

// add adds words where what they say is given.
func (l *shellLine) add(given bool, words ...string) {
	if given {
		*l = append(*l, words...)
	}
}
