// Package userns says whether an ordinary user may make a user namespace, as
// far as the kernel's settings tell. It changes nothing and tries nothing.
package userns

import (
	"fmt"
	"os"
	"strings"
)

// settings are the files that can forbid it, with the value that does and
// what to set instead.
var settings = []struct{ file, forbids, fix string }{
	{"/proc/sys/kernel/unprivileged_userns_clone", "0", "sysctl kernel.unprivileged_userns_clone=1"},
	{"/proc/sys/user/max_user_namespaces", "0", "sysctl user.max_user_namespaces=15000"},
	{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1", "sysctl kernel.apparmor_restrict_unprivileged_userns=0"},
}

// Forbidden says why an ordinary user can't make user namespaces, and the
// command that allows it; both empty where nothing is in the way. A program
// with an AppArmor profile of its own (profiled) may do it where that one only
// restricts the others, as on Ubuntu since 23.10.
func Forbidden(profiled bool) (reason, fix string) {
	for _, s := range settings {
		if profiled && strings.Contains(s.file, "apparmor") {
			continue
		}
		if text, err := os.ReadFile(s.file); err == nil && strings.TrimSpace(string(text)) == s.forbids {
			return fmt.Sprintf("ordinary users may not make user namespaces: %s is %s", s.file, s.forbids), s.fix
		}
	}
	return "", ""
}
