package run

import (
	"crypto/sha256"
	"debug/elf"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/internal/measure/build"
	"plimsoll/internal/measure/build/executed"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// prover knows which files are executed, and so whether the build that an
// environment is of is the program that ran.
type prover struct {
	watch *executed.Watch // nil: executions can't be watched
	why   string          // … and why not
	// loaders are what the kernel executes beside a build, by its digest.
	loaders map[string]executed.File
	probe   string // the payload's digest
	running executed.Running
}

// newProver begins to watch; nil where no environment is of a build.
func newProver(builds []record.Build, dirs ...string) *prover {
	if len(builds) == 0 {
		return nil
	}
	p := &prover{loaders: map[string]executed.File{}, probe: fmt.Sprintf("%x", sha256.Sum256(probe.Binary()))}
	sizes := []int64{int64(len(probe.Binary()))}
	for _, b := range builds {
		if b.Socket != "" { // asked of its process
			continue
		}
		sizes = append(sizes, b.Bytes)
		dirs = append(dirs, filepath.Dir(b.Path))
		if e, err := elf.Open(b.Path); err == nil {
			if loader := build.Loader(e); loader != "" {
				if f, err := executed.Of(loader); err == nil {
					p.loaders[b.SHA256] = f
				}
			}
			_ = e.Close() // it was only read
		}
	}
	watch, err := executed.Open(sizes, dirs...)
	if err != nil {
		p.why = err.Error()
	}
	p.watch = watch
	return p
}

// standard are directories in which other programs of an engine's lie.
var standard = []string{"/", "/bin", "/sbin", "/usr", "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/libexec", "/usr/local", "/opt", "/tmp", "/var/tmp", "/home", "/root"}

func (p *prover) close() error {
	if p == nil || p.watch == nil {
		return nil
	}
	return p.watch.Close()
}

// begin forgets what was executed before.
func (p *prover) begin() {
	if p != nil && p.watch != nil {
		_, _ = p.watch.Drain() // what fails now fails at the end too
	}
}

// judge says why what was executed since begin is not the builds; nil where it is.
// used: each of them must have been executed, or be running where it stays.
func (p *prover) judge(builds []record.Build, programs []engine.Program, env engine.Environment, used bool) error {
	if p == nil || len(builds) == 0 {
		return nil
	}
	if c, ok := env.(engine.Configured); ok && slices.ContainsFunc(builds, record.Build.Configured) {
		if err := c.Configured(); err != nil {
			return err
		}
	}
	builds, err := p.staying(builds, programs, env)
	if err != nil || p.watch == nil {
		return err
	}
	all, err := p.watch.Drain()
	if err != nil {
		return &engine.Error{Class: record.HarnessError, Text: "which program ran is not known", Err: err}
	}
	becomes := map[string][]string{}
	for _, x := range programs {
		becomes[x.Name] = x.Becomes
	}
	return p.held(builds, becomes, all, used)
}

// staying asks the processes of programs that stay whether they are the builds, and
// gives the builds of the others.
func (p *prover) staying(builds []record.Build, programs []engine.Program, env engine.Environment) (others []record.Build, err error) {
	var pids map[string]int
	var unknown error
	if r, ok := env.(engine.Resident); ok {
		pids, unknown = r.Residents()
	}
	for _, b := range builds {
		if !slices.ContainsFunc(programs, func(x engine.Program) bool { return x.Name == b.Program && x.Stays }) {
			others = append(others, b)
			continue
		}
		sum, err := p.running.Of(pids[b.Program])
		if pids[b.Program] == 0 && unknown != nil {
			err = unknown
		}
		switch {
		case err != nil:
			return nil, &engine.Error{Class: record.HarnessError, Text: "which " + b.Program + " runs is not known", Err: err}
		case sum != b.SHA256:
			return nil, wrongBuild("%s is %s, and the %s that runs (process %d) is another program", b.Name(), b.Path, b.Program, pids[b.Program])
		}
	}
	return others, nil
}

// held holds what was executed against the builds; becomes are the names of what a
// program may execute in its own place.
func (p *prover) held(builds []record.Build, becomes map[string][]string, all []executed.Execution, used bool) error {
	for _, b := range builds {
		ran := false
		for at, x := range all {
			if x.SHA256 != b.SHA256 {
				continue
			}
			ran = true
			if other := p.became(b, becomes[b.Program], all[at:]); other != "" {
				return wrongBuild("%s is %s, and it executed %s in its place: what ran is not that build", b.Name(), b.Path, other)
			}
		}
		if used && !ran {
			return wrongBuild("%s, %s, was not executed%s", b.Name(), b.Path, instead(b.Program, all))
		}
	}
	return nil
}

func wrongBuild(format string, a ...any) error {
	return &engine.Error{Class: record.WrongComponent, Text: fmt.Sprintf(format, a...)}
}

// became is the file that the process of the first execution executed afterwards and
// that is neither the build itself, nor its loader, nor what it may become.
func (p *prover) became(b record.Build, may []string, all []executed.Execution) string {
	for _, x := range all[1:] {
		switch {
		case x.PID != all[0].PID, x.SHA256 == b.SHA256, x.File == p.loaders[b.SHA256]:
		case x.SHA256 == p.probe, slices.Contains(may, filepath.Base(x.Path)):
			return "" // what that one executes is its own
		default:
			return x.Path
		}
	}
	return ""
}

// instead names what bears the program's name and was executed.
func instead(program string, all []executed.Execution) string {
	for _, x := range all {
		if filepath.Base(x.Path) == program {
			return ", and " + x.Path + " was"
		}
	}
	return ""
}

// buildsOf are the builds of an environment, with the programs that it has.
func (r *runner) buildsOf(env *record.Environment) ([]record.Build, []engine.Program, error) {
	info := r.engines[env.Engine].Info()
	builds, err := info.BuildsFor(env.Levels, r.rec.Builds)
	return builds, info.ProgramsWith(env.Levels), err
}

// proveBuild fails a trial in which another program ran than the environment's build.
func (r *runner) proveBuild(t *record.Trial, env *record.Environment, open engine.Environment, used bool) {
	builds, programs, err := r.buildsOf(env)
	if err == nil {
		err = r.prover.judge(builds, programs, open, used)
	}
	if err != nil && t.Failure == nil {
		t.Failure = engine.FailureOf(err)
	}
}

// builtFacts adds to an environment's facts which builds it runs, and how that is
// known.
func (p *prover) builtFacts(facts map[string]string, builds []record.Build) map[string]string {
	if len(builds) == 0 {
		return facts
	}
	out := maps.Clone(facts)
	var all, paths []string
	for _, b := range builds {
		all = append(all, b.String())
		paths = append(paths, b.Path)
	}
	out["build"], out["build-path"] = strings.Join(all, "; "), strings.Join(paths, "; ")
	out["build-proof"] = "what the kernel executed in each trial"
	if p.watch == nil {
		out["build-proof"] = "none: " + p.why
	}
	if !slices.ContainsFunc(builds, func(b record.Build) bool { return b.Socket == "" }) {
		out["build-proof"] = "the program of the process that serves its socket, after each trial"
	}
	return out
}
