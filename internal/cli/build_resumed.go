//go:build linux

package cli

import (
	"slices"

	"plimsoll/internal/measure/build"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// sameBuilds takes the builds of a run that is gone on with: at the paths of its
// record, or where the user says that the files are now; they must be the same files.
// None is executed here.
func (s *setting) sameBuilds(f *buildFlags, r *record.Run) error {
	asked, err := f.asked()
	if err == nil {
		asked, err = s.withoutContexts(asked)
	}
	if err != nil {
		return err
	}
	build.Sort(asked, engine.AllPrograms(s.engines))
	for _, a := range asked {
		i := slices.IndexFunc(r.Builds, func(b record.Build) bool { return b.Program == a.Program && b.Level == a.Level })
		if i < 0 || a.File != "" && r.Builds[i].File(a.File) == nil || a.Variable != "" && !slices.Contains(r.Builds[i].Variables, a.Variable) {
			return fail(Usage, "%s: the run that is resumed has no such build", a.Where)
		}
		if b := r.Builds[i]; a.File == "" && a.Variable == "" && a.Path+a.Socket != "" && a.Socket != b.Socket {
			had := "was started from " + b.Path
			if b.Socket != "" {
				had = "ran already, at " + b.Socket
			}
			return withHint(fail(Usage, "%s: in the run that is resumed %s %s", a.Where, b.Name(), had), "leave it out, or start a new run")
		}
	}
	// now is a file of a build, where it is now.
	now := func(b record.Build, file, path, sum string) build.Asked {
		a := build.Asked{Program: b.Program, Level: b.Level, File: file, Path: path}
		if file == "" && b.Socket != "" {
			a.Path, a.Socket = "", b.Socket
		}
		if i := slices.IndexFunc(asked, func(x build.Asked) bool {
			return x.Program == b.Program && x.Level == b.Level && x.File == file && x.Variable == "" && x.Path+x.Socket != ""
		}); i >= 0 {
			a = asked[i]
		}
		a.SHA256 = sum
		return a
	}
	moved := func(b record.Build, file string, err error) error {
		if file == "" && b.Socket != "" {
			return withHint(fail(Usage, "the build %s of the run that is resumed: %w", b.Name(), err), "have the same program serve %s again, or start a new run", b.Socket)
		}
		return withHint(fail(Usage, "the build %s of the run that is resumed: %w", b.Name(), err), "--build %s=%sPATH says where the file is that the run began with", b.Name(), file)
	}
	for _, b := range r.Builds {
		again, err := build.Look(now(b, "", b.Path, b.SHA256))
		if err != nil {
			return moved(b, "", err)
		}
		again.Version, again.Variables = b.Version, b.Variables
		for _, file := range b.Files {
			f, err := build.LookFile(now(b, file.Name, file.Path, file.SHA256))
			if err != nil {
				return moved(b, file.Name+"=", err)
			}
			again.Files = append(again.Files, f)
		}
		s.builds = append(s.builds, again)
	}
	r.Builds = slices.Clone(s.builds)
	return nil
}
