//go:build linux

package cli

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/record"
)

// imageOnSame is the code of what samePlaces remarks.
const imageOnSame = "image-on-same"

// imageOnFlag adds the flag that says which directories the levels of image-on
// are: a study names no path of a machine.
func imageOnFlag(c *cobra.Command, places *map[string]string) {
	c.Flags().StringToStringVar(places, engine.ImageOn, nil, "the directory that a level of the factor image-on stands for, such as scratch=/mnt/scratch/me: images are kept below it, on its file system")
}

// usePlaces checks the directories of image-on and takes them. One that is not
// there may be a file system that is not mounted: it is not made.
func (s *setting) usePlaces(places map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(places)) {
		dir := places[name]
		if !engine.IsPlace(name) {
			return fail(Usage, "--%s: %q is not a name for a file system: small letters, digits and -, and not default", engine.ImageOn, name)
		}
		if !filepath.IsAbs(dir) {
			return fail(Usage, "--%s %s=%s: give the directory's whole path, which is the same on every node", engine.ImageOn, name, dir)
		}
		if fi, err := os.Stat(dir); err != nil {
			return fail(Usage, "--%s %s=%s: %w", engine.ImageOn, name, dir, err)
		} else if !fi.IsDir() {
			return fail(Usage, "--%s %s=%s is not a directory", engine.ImageOn, name, dir)
		}
	}
	s.places = places
	return nil
}

// placeUsable says whether the user has said where a level of image-on is.
func (s *setting) placeUsable(levels map[string]string) (ok bool, reason, fix string) {
	level := levels[engine.ImageOn]
	if level == "" || level == engine.DefaultLevel || s.places[level] != "" {
		return true, "", ""
	}
	reason, fix = engine.Reason(engine.NoPlace(level))
	return false, reason, fix
}

// allPlaced is an error where a run that is gone on with has a level of image-on
// of which nobody has said again where it is.
func (s *setting) allPlaced(p *study.Plan) error {
	for _, e := range p.Environments {
		if ok, reason, fix := s.placeUsable(e.Levels); !ok {
			return withHint(fail(Usage, "%s: %s", e.ID, reason), "give %s, as when the run was begun", fix)
		}
	}
	return nil
}

// samePlaces remarks on two levels of image-on that lie on one mounted file
// system: what is compared then is not the file system.
func (s *setting) samePlaces(p *study.Plan) {
	used := map[string]string{engine.DefaultLevel: s.state.Dir}
	for _, e := range p.Environments {
		if level := e.Levels[engine.ImageOn]; s.places[level] != "" {
			used[level] = s.places[level]
		}
	}
	seen := map[engine.Lying]string{}
	for _, level := range slices.Sorted(maps.Keys(used)) {
		dir := used[level]
		if level == engine.DefaultLevel { // the first run makes it
			for _, err := os.Stat(dir); err != nil && dir != filepath.Dir(dir); _, err = os.Stat(dir) {
				dir = filepath.Dir(dir)
			}
		}
		lies, err := engine.Lies(dir)
		if err != nil {
			continue // opening the environment tells
		}
		if other, ok := seen[lies]; ok {
			p.Remarks = append(p.Remarks, record.Remark{Code: imageOnSame, Level: "warn",
				Text: fmt.Sprintf("The levels %s and %s of %s lie on the same mounted file system, %s at %s.", other, level, engine.ImageOn, lies.Type, lies.Mountpoint)})
			continue
		}
		seen[lies] = level
	}
}
