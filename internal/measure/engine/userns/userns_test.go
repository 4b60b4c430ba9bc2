package userns

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

// What settings and profiles of AppArmor's say together.
func TestForbidden(t *testing.T) {
	const (
		rootlesskit = "abi <abi/4.0>,\n\nprofile rootlesskit /usr/bin/rootlesskit flags=(unconfined) {\n  userns,\n}\n"
		byVariable  = "profile bwrap @{bin}/bwrap flags=(attach_disconnected) {\n  allow userns,\n}\n"
		without     = "profile bwrap /usr/bin/bwrap {\n  # userns,\n  capability,\n}\n"
		starter     = "profile apptainer /usr/libexec/apptainer/bin/starter{,-suid} flags=(unconfined) {\n  userns,\n}\n"
	)
	for _, c := range []struct {
		what, setting, value, profile string
		programs                      []string
		reason, fix                   string
	}{
		{"nothing is set", "", "", "", []string{"bwrap"}, "", ""},
		{"Debian's switch is off", "unprivileged_userns_clone", "0", rootlesskit, []string{"rootlesskit"}, "unprivileged_userns_clone is 0", "sysctl kernel.unprivileged_userns_clone=1"},
		{"AppArmor restricts nothing", "apparmor_restrict_unprivileged_userns", "0", "", []string{"bwrap"}, "", ""},
		{"with a profile", "apparmor_restrict_unprivileged_userns", "1", rootlesskit, []string{"rootlesskit"}, "", ""},
		{"with a profile by a variable", "apparmor_restrict_unprivileged_userns", "1", byVariable, []string{"bwrap"}, "", ""},
		{"with one for a pattern", "apparmor_restrict_unprivileged_userns", "1", starter, []string{"apptainer", "starter"}, "", ""},
		{"with another's", "apparmor_restrict_unprivileged_userns", "1", rootlesskit, []string{"bwrap"}, "no profile in /etc/apparmor.d lets bwrap make them", "profile with the rule `userns,`"},
		{"with one that doesn't say so", "apparmor_restrict_unprivileged_userns", "1", without, []string{"bwrap"}, "no profile in", "userns"},
		{"for no program in particular", "apparmor_restrict_unprivileged_userns", "1", byVariable, nil, "is 1", "sysctl"},
	} {
		root := t.TempDir()
		for _, dir := range []string{"proc/sys/kernel", "etc/apparmor.d/abstractions"} {
			require.NoError(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
		}
		if c.setting != "" {
			require.NoError(t, os.WriteFile(filepath.Join(root, "proc/sys/kernel", c.setting), []byte(c.value+"\n"), 0o600))
		}
		require.NoError(t, os.WriteFile(filepath.Join(root, "etc/apparmor.d/it"), []byte(c.profile), 0o600))
		reason, fix := forbidden(root, false, c.programs)
		if (reason == "") != (c.reason == "") || !strings.Contains(reason, c.reason) || !strings.Contains(fix, c.fix) {
			t.Errorf("%s: %q, %q", c.what, reason, fix)
		}
		if reason, _ := forbidden(root, true, nil); (reason != "") != (c.setting == "unprivileged_userns_clone") {
			t.Errorf("%s: to root, in another: %q", c.what, reason)
		}
	}
}

// The limit on their number holds for root, too.
func TestForbiddenNested(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "proc/sys/user"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "proc/sys/user/max_user_namespaces"), []byte("0\n"), 0o600))
	if reason, fix := forbidden(root, true, nil); !strings.Contains(reason, "forbidden to root, too: ") || fix == "" {
		t.Errorf("%q, %q", reason, fix)
	}
}
