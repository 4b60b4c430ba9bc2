package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"plimsoll/internal/record"
)

// Program is a program of an engine's of which the user may have several builds.
type Program struct {
	// Name is what it is looked for by on the PATH. Instead of it, Of is the factor
	// whose level names the program.
	Name, Of string
	// Says is how it calls itself on --version, where that is not by its name.
	Says string
	// Unnamed: it says its version alone, and not its name.
	Unnamed bool
	// Helps is a line of its --help that no other program has. It is for one that
	// calls itself by the name of its file, which says nothing then.
	Helps string
	// Version is the option by which it says its version; empty: --version.
	Version string
	// Stays: it runs before a trial begins and after it has ended. That it is the build
	// is asked of its process: the environment is a Resident.
	Stays bool
	// Becomes are programs of its own that a process of it executes in its place,
	// by their names: what is executed beyond them, and beyond the payload, is
	// another program.
	Becomes []string
	// Files are the names of the configuration files that a build of it may have here.
	Files []string
	// Elsewhere says of files that it reads and takes none of here where their settings
	// are given instead, by their names.
	Elsewhere map[string]string
	// With are levels without which the engine does not run it, by their factors. One of
	// the factor With has to be named, since without it nothing is added.
	With map[string]string
	// Variables: the engine starts it, and so a build may have variables of its
	// environment here.
	Variables bool
	// Joins: the engine also uses one that runs already, at the socket that the build names.
	Joins bool
}

// Resident is an environment with programs that stay from trial to trial.
type Resident interface {
	// Residents are the processes of those programs, by the programs' names. The error
	// says why one of them is not known.
	Residents() (map[string]int, error)
}

// Configured is an environment whose programs run with a configuration of a build.
type Configured interface {
	// Configured says why a program no longer runs with what it was given; nil where
	// it does.
	Configured() error
}

// ProgramsWith are the programs that an environment with these levels has, those
// that a level names by that name.
func (i Info) ProgramsWith(levels map[string]string) (out []Program) {
	for _, p := range i.Programs {
		if !p.RunsAt(levels) {
			continue
		}
		if p.Of != "" {
			p.Name = levels[p.Of]
			if known := i.Levels[p.Of]; (p.Name == "" || p.Name == DefaultLevel) && len(known) > 0 {
				p.Name = known[0]
			}
			if p.Name == DefaultLevel {
				continue // which one that is, the engine alone knows
			}
		}
		out = append(out, p)
	}
	return out
}

// RunsAt says whether an environment with these levels may run it. What a level is that
// nobody has named, the engine alone knows.
func (p Program) RunsAt(levels map[string]string) bool {
	for factor, level := range p.With {
		is := levels[factor]
		if factor == With && !slices.Contains(Parts(factor, is), level) || factor != With && is != "" && is != DefaultLevel && is != level {
			return false
		}
	}
	return true
}

// Needs are the levels without which no engine runs the program of this name, as
// FACTOR=LEVEL; "" where it always runs.
func (p Program) Needs(name string) string {
	var all []string
	if p.Of != "" {
		all = append(all, p.Of+"="+name)
	}
	for _, factor := range slices.Sorted(maps.Keys(p.With)) {
		all = append(all, factor+"="+p.With[factor])
	}
	return strings.Join(all, " and ")
}

// Runs is the program of this name, or the factor whose level it is; nil where the
// engine runs no build of it.
func (i Info) Runs(program string) *Program {
	k := slices.IndexFunc(i.Programs, func(p Program) bool {
		return p.Name == program || p.Of != "" && program != DefaultLevel && slices.Contains(i.Levels[p.Of], program)
	})
	if k < 0 {
		return nil
	}
	return &i.Programs[k]
}

// AllPrograms unites the programs of engines, each once, in the order of their
// names.
func AllPrograms(engines []Engine) (out []Program) {
	add := func(p Program) {
		i := slices.IndexFunc(out, func(o Program) bool { return o.Name == p.Name })
		if i < 0 {
			out = append(out, p)
			return
		}
		if len(out[i].Files) == 0 { // one engine may configure what another only runs
			out[i].Files = p.Files
		}
		out[i].Variables = out[i].Variables || p.Variables
		out[i].Joins = out[i].Joins || p.Joins
	}
	for _, e := range engines {
		i := e.Info()
		for _, p := range i.Programs {
			if p.Of == "" {
				add(p)
				continue
			}
			for _, level := range i.Levels[p.Of] {
				if level != DefaultLevel {
					p.Name = level
					add(p)
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b Program) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// BuildsFor are those of the builds that an environment with these levels runs:
// of each of its programs the one that its level of Build stands for. The error is
// for a level of which none is given.
func (i Info) BuildsFor(levels map[string]string, all []record.Build) (out []record.Build, err error) {
	level := levels[Build]
	if level == "" || level == DefaultLevel {
		return nil, nil
	}
	var names []string
	for _, p := range i.ProgramsWith(levels) {
		names = append(names, p.Name)
		for _, b := range all {
			if b.Program != p.Name || b.Level != level {
				continue
			}
			if len(b.Files) > 0 && len(p.Files) == 0 || len(b.Variables) > 0 && !p.Variables {
				return nil, &Error{Class: record.Unsupported, Text: fmt.Sprintf("%s is configured by its caller below %s, so %s can't have a configuration of its own there", p.Name, i.Title, b.Name())}
			}
			if b.Socket != "" && !p.Joins {
				return nil, &Error{Class: record.Unsupported, Text: fmt.Sprintf("below %s the %s is started for the run, so %s can't be one that runs already", i.Title, p.Name, b.Name()),
					Fix: "call it by another level than " + level}
			}
			out = append(out, b)
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	for _, p := range i.Programs {
		for _, b := range all {
			open := p.Of != "" && (levels[p.Of] == "" || levels[p.Of] == DefaultLevel) && slices.Contains(i.Levels[p.Of], b.Program)
			if b.Level == level && (open || b.Program == p.Name && !p.RunsAt(levels)) {
				needs := p.Needs(b.Program)
				return nil, &Error{Class: record.Unsupported, Text: fmt.Sprintf("%s would not run: %s starts its %s only where %s is named", b.Name(), i.Title, b.Program, needs),
					Fix: "name " + needs}
			}
		}
	}
	if len(names) == 0 {
		return nil, &Error{Class: record.Unavailable, Text: fmt.Sprintf("of which program %s=%s is a build is open: the study leaves the %s to %s", Build, level, Runtime, i.Title)}
	}
	return nil, &UnboundError{Level: level, Programs: names}
}

// UnboundError is that of an environment whose build the run was not given.
type UnboundError struct {
	Level    string
	Programs []string // a build of one of them is enough
}

func (e *UnboundError) Error() string { return e.Unwrap().Error() }

// Unwrap returns it as an *Error, with the flag that gives the build.
func (e *UnboundError) Unwrap() error {
	return &Error{Class: record.Unavailable, Text: fmt.Sprintf("the run was not given the build %s", e.Build()),
		Fix: fmt.Sprintf("--%s %s:%s=PATH", Build, e.Programs[len(e.Programs)-1], e.Level)}
}

// Build returns what is missing, as PROGRAM:LEVEL or OTHER:LEVEL.
func (e *UnboundError) Build() string {
	return strings.Join(e.Programs, ":"+e.Level+" or ") + ":" + e.Level
}

// With is the kit of an environment that runs these builds: each is found where its
// program is looked for.
func (k *Kit) With(builds []record.Build) *Kit {
	if len(builds) == 0 {
		return k
	}
	other := *k
	other.builds = builds
	other.LookPath = func(name string) (string, error) {
		for _, b := range builds {
			if b.Program == name {
				return b.Path, nil
			}
		}
		return k.LookPath(name)
	}
	return &other
}

// BuildOf is the build of a program that the environment runs; nil where it runs the
// machine's own, with the machine's configuration.
func (k *Kit) BuildOf(program string) *record.Build {
	for i := range k.builds {
		if k.builds[i].Program == program {
			return &k.builds[i]
		}
	}
	return nil
}

// Joined is the socket of a daemon that runs already and is the build of the program;
// "" where the build is none such.
func (k *Kit) Joined(program string) string {
	if b := k.BuildOf(program); b != nil {
		return b.Socket
	}
	return ""
}

// Built is the path of the build of a program that the environment runs; "" where it
// runs the machine's own. It is for an engine whose daemon has to be told.
func (k *Kit) Built(program string) string {
	if b := k.BuildOf(program); b != nil {
		return b.Path
	}
	return ""
}
