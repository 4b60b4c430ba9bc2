//go:build linux

package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"plimsoll/internal/common/yamlfile"
	"plimsoll/internal/measure/build"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// abDirectories are two directories, each of a set of programs by their names.
type abDirectories struct {
	asked []build.Asked // the directories
	all   []build.Asked // their programs
	level string        // FACTOR=LEVEL that has the engine run a program of the sets
}

// setOf lists the programs that the engine which runs a program can have builds of with these
// levels, and FACTOR=LEVEL for those that it runs only then. wanted is the engine that was
// asked for.
func setOf(engines []engine.Engine, program, wanted string, rest []string) (names []string, byLevel map[string]string, err error) {
	of, err := runs(engines, program, wanted)
	if err != nil {
		return nil, nil, err
	}
	info := engines[slices.IndexFunc(engines, func(e engine.Engine) bool { return e.Info().Name == of[0] })].Info()
	levels := map[string]string{}
	for _, l := range slices.Concat(of[1:], rest) {
		factor, level, _ := strings.Cut(l, "=")
		levels[factor] = level
	}
	names, byLevel = programsOf(info, levels)
	return names, byLevel, nil
}

// directoriesOf finds the programs of two directories; nil where they are none. asked is
// the engine that was asked for, and rest are the levels.
func directoriesOf(w io.Writer, engines []engine.Engine, asked []build.Asked, wanted string, rest []string) (*abDirectories, error) {
	if !slices.ContainsFunc(asked, build.IsDirectory) {
		return nil, nil
	}
	for i, a := range asked {
		if !build.IsDirectory(a) {
			return nil, fail(Usage, "%s is not a directory, but %s is: expected two programs, or two directories", cmp.Or(a.Path, a.Socket, a.Variable, a.Where), asked[1-i].Path)
		}
	}
	program := asked[0].Program
	names, byLevel, err := setOf(engines, program, wanted, rest)
	if err != nil {
		return nil, err
	}
	d := &abDirectories{asked: asked}
	var had [2][]string
	for i, a := range asked {
		all, others, err := build.Directory(a, names)
		if err != nil {
			return nil, fail(Usage, "%w", err)
		}
		for _, one := range all {
			had[i] = append(had[i], one.Program)
		}
		d.all = append(d.all, all...)
		left := ""
		if len(others) > 0 {
			left = ", and not " + strings.Join(others, ", ")
		}
		_, _ = fmt.Fprintf(w, "of %s: %s%s\n", shortPath(a.Path), strings.Join(had[i], ", "), left)
	}
	for i, a := range asked {
		for _, name := range had[i] {
			if !slices.Contains(had[1-i], name) {
				return nil, fail(Usage, "%s has a %s, and %s has none: a set is of the same programs in both", a.Path, name, asked[1-i].Path)
			}
		}
	}
	d.level, err = levelOfSet(asked[0].Path, program, had[0], byLevel)
	return d, err
}

// levelOfSet is FACTOR=LEVEL by which an engine runs a program of a set that a level stands
// for, such as a runtime; "" where it has none. from is where the set was named.
func levelOfSet(from, program string, set []string, byLevel map[string]string) (string, error) {
	var ran []string
	for _, name := range set {
		if l := byLevel[name]; l != "" && name != program {
			ran = append(ran, l)
		}
	}
	if len(ran) > 1 {
		return "", fail(Usage, "%s has several of which the engine runs one: name it, %s", from, yamlfile.OneOf(ran))
	}
	return strings.Join(ran, ""), nil
}

// programsOf are the programs that an engine with these levels can have builds of, and
// for those that a level stands for and that nobody has named, that level.
func programsOf(info engine.Info, levels map[string]string) (names []string, byLevel map[string]string) {
	byLevel = map[string]string{}
	for _, p := range info.Programs {
		switch is := levels[p.Of]; {
		case !p.RunsAt(levels):
		case p.Of == "":
			names = append(names, p.Name)
		case is != "" && is != engine.DefaultLevel:
			names = append(names, is)
		default:
			for _, level := range info.Levels[p.Of] {
				if level != engine.DefaultLevel {
					names = append(names, level)
					byLevel[level] = p.Of + "=" + level
				}
			}
		}
	}
	return names, byLevel
}

// texts are the directories as they are bound again, with the digests of what lies in
// them.
func (d *abDirectories) texts(builds []record.Build) (out []string) {
	for _, a := range d.asked {
		out = append(out, a.Path+"@sha256:"+build.Digest(builds, a.Level))
	}
	return out
}
