// Package userns says whether an ordinary user may make a user namespace, as
// far as the kernel's settings tell. It changes nothing and tries nothing.
package userns

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// settings are the files that can forbid it, with the value that does, to
// whom, whether in another user namespace it is forbidden to root as well, and
// what to set instead.
var settings = []struct {
	file, forbids, whom string
	nested              bool
	fix                 string
}{
	{"/proc/sys/kernel/unprivileged_userns_clone", "0", "ordinary users", true, "sysctl kernel.unprivileged_userns_clone=1"},
	{"/proc/sys/user/max_user_namespaces", "0", "everybody, root too", true, "sysctl user.max_user_namespaces=15000"},
	{restricted, "1", "ordinary users", false, "sysctl kernel.apparmor_restrict_unprivileged_userns=0"},
}

// restricted is the file of AppArmor's, which restricts programs without a profile.
const restricted = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"

// Forbidden says why an ordinary user can't make user namespaces by one of the
// programs, and what allows it; both empty where nothing is in the way. Where
// AppArmor restricts them, as on Ubuntu since 23.10, a program may do it that has
// a profile of its own which says so.
func Forbidden(programs ...string) (reason, fix string) { return forbidden("/", false, programs) }

// ForbiddenNested says why not even root can make one inside another, and what allows it.
func ForbiddenNested() (reason, fix string) { return forbidden("/", true, nil) }

func forbidden(root string, nested bool, programs []string) (reason, fix string) {
	for _, s := range settings {
		text, err := os.ReadFile(filepath.Join(root, s.file))
		if err != nil || strings.TrimSpace(string(text)) != s.forbids || nested && !s.nested {
			continue
		}
		what, whom := "user namespaces are", s.whom
		if nested {
			what, whom = "user namespaces inside another are", "root, too"
		}
		reason, fix = fmt.Sprintf("%s forbidden to %s: %s is %s", what, whom, s.file, s.forbids), s.fix
		if s.file == restricted && len(programs) > 0 {
			if hasProfile(root, programs) {
				continue
			}
			reason += ", and no profile in " + profiles + " lets " + programs[0] + " make them"
			fix = "give " + programs[0] + " an AppArmor profile with the rule `userns,`; for all programs: " + fix
		}
		return reason, fix
	}
	return "", ""
}

// profiles is where AppArmor's profiles lie, see apparmor.d(5).
const profiles = "/etc/apparmor.d"

// granted is the rule that lets a profile's program make them.
var granted = regexp.MustCompile(`(?m)^\s*(allow\s+)?userns\b`)

// hasProfile says whether a file there names one of the programs and has the rule.
// What a profile is attached to is a pattern; its last part is looked for.
func hasProfile(root string, programs []string) bool {
	files, _ := filepath.Glob(filepath.Join(root, profiles, "*"))
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil || !granted.Match(text) {
			continue // a directory, too
		}
		for _, p := range programs {
			if regexp.MustCompile(`(?m)^[^#\n]*[/}]` + regexp.QuoteMeta(p) + `[\s"{,]`).Match(text) {
				return true
			}
		}
	}
	return false
}
