package engine

import (
	"fmt"
	"maps"
	"slices"

	"plimsoll/internal/record"
)

// ImageName is the image of a spec: "payload" where none was named.
func ImageName(spec Spec) string {
	if name := spec.Level(Image); name != DefaultLevel {
		return name
	}
	return "payload"
}

// Refuse checks an engine that was looked for and the levels of a spec: an
// error of class record.Unsupported for what the engine does not know, of
// record.Unavailable for what can't be had here. Images are not checked:
// providing them tells.
func Refuse(info Info, d Detection, spec Spec) error {
	if !d.Usable {
		return &Error{Class: record.Unavailable, Text: d.Reason, Fix: d.Fix}
	}
	for _, factor := range slices.Sorted(maps.Keys(spec.Levels)) {
		name := spec.Level(factor)
		if name == DefaultLevel || factor == Image {
			continue
		}
		if factor == ImageOn && info.InPlace {
			continue
		}
		// The cgroup version is the machine's, and the plan has held it against
		// that, unless the engine has a say in it.
		if factor == Cgroup && len(info.Levels[Cgroup]) == 0 {
			continue
		}
		for _, part := range Parts(factor, name) {
			if !slices.Contains(info.Levels[factor], part) {
				return &Error{Class: record.Unsupported, Text: fmt.Sprintf("%s has no %s=%s", info.Title, factor, part)}
			}
			for _, l := range d.Levels[factor] {
				if l.Name == part && !l.Usable {
					return &Error{Class: record.Unavailable, Text: fmt.Sprintf("%s with %s=%s: %s", info.Title, factor, part, l.Reason), Fix: l.Fix}
				}
			}
		}
	}
	return nil
}
