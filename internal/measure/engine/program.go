package engine

import (
	"fmt"
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
}

// Resident is an environment with programs that stay from trial to trial.
type Resident interface {
	// Residents are the processes of those programs, by the programs' names.
	Residents() map[string]int
}

// ProgramsWith are the programs that an environment with these levels has, those
// that a level names by that name.
func (i Info) ProgramsWith(levels map[string]string) (out []Program) {
	for _, p := range i.Programs {
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
		if !slices.ContainsFunc(out, func(o Program) bool { return o.Name == p.Name }) {
			out = append(out, p)
		}
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
			if b.Program == p.Name && b.Level == level {
				out = append(out, b)
			}
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	if len(names) == 0 {
		return nil, &Error{Class: record.Unavailable, Text: fmt.Sprintf("of which program %s=%s is a build is open: the study leaves the %s to %s", Build, level, Runtime, i.Title)}
	}
	return nil, &Error{Class: record.Unavailable, Text: fmt.Sprintf("nobody said which file %s=%s of %s is", Build, level, strings.Join(names, " or ")),
		Fix: fmt.Sprintf("--%s %s:%s=PATH", Build, names[len(names)-1], level)}
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

// Built is the path of the build of a program that the environment runs; "" where it
// runs the machine's own. It is for an engine whose daemon has to be told.
func (k *Kit) Built(program string) string {
	for _, b := range k.builds {
		if b.Program == program {
			return b.Path
		}
	}
	return ""
}
