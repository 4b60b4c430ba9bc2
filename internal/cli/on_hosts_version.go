//go:build linux

package cli

import (
	"fmt"
	"regexp"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/measure/fleet"
)

// saidVersion is how a program begins to say which it is, as versionLine does.
var saidVersion = regexp.MustCompile(`^plimsoll ([^\s,]+)(?: \(([0-9a-f]+)\))?`)

// sameVersion refuses a program for another processor that is another version than this one:
// near and far side speak with each other, and a report is to be of one.
func (h *hostCourse) sameVersion(p *fleet.Program) error {
	if p.Path == h.r.programs.Own {
		return nil
	}
	said, err := h.Version(h.ctx)
	if err != nil {
		return err
	}
	if oneVersion(said, versionLine()) {
		return nil
	}
	return &fleet.Error{Host: h.Name, What: fmt.Sprintf("the program %s says that it is %q, and this one is %s", shortPath(p.Path), harmless.Text(said), saidVersion.FindString(versionLine())),
		Advice: "give a program of the same version: --program " + p.Arch + "=PATH"}
}

// oneVersion says whether two programs are of one version; a commit counts where both have one.
func oneVersion(a, b string) bool {
	x, y := saidVersion.FindStringSubmatch(a), saidVersion.FindStringSubmatch(b)
	return x != nil && y != nil && x[1] == y[1] && (x[2] == "" || y[2] == "" || x[2] == y[2])
}
