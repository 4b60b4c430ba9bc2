package safepath

import (
	"os/user"
	"slices"
	"strconv"
)

// Rule says what may lie on the way to a directory. The zero value trusts root
// and ourselves.
type Rule struct {
	// Owners are further users, by number, whose directories are trusted: the
	// one who called sudo.
	Owners []int
	// Lasting: the path is handed on by name later, to an engine or a daemon.
	// A directory that others may write to is then passed only where it is
	// sticky, since else they could put another one in the place of ours.
	Lasting bool
}

// Caller is the rule for what a user names on the command line: root trusts the
// one for whom it works, by SUDO_UID, PKEXEC_UID, DOAS_USER or PLIMSOLL_USER,
// which sudo and the like, or root itself, have set.
func Caller(getenv func(string) string) Rule {
	var r Rule
	for _, name := range []string{"SUDO_UID", "PKEXEC_UID"} {
		if uid, err := strconv.Atoi(getenv(name)); err == nil && uid > 0 {
			r.Owners = append(r.Owners, uid)
		}
	}
	for _, name := range []string{"DOAS_USER", "PLIMSOLL_USER"} {
		if getenv(name) == "" {
			continue
		}
		if u, err := user.Lookup(getenv(name)); err == nil {
			if uid, err := strconv.Atoi(u.Uid); err == nil && uid > 0 {
				r.Owners = append(r.Owners, uid)
			}
		}
	}
	return r
}

// With is the rule with further owners.
func (r Rule) With(uids ...int) Rule {
	r.Owners = append(slices.Clone(r.Owners), uids...)
	return r
}

// othersWrite says whether others than the owner may write to a file or directory of this
// mode. A group of the owner's own number is the owner's own: distributions that give each
// user such a group let it write by default (pam_umask(8), usergroups).
func othersWrite(mode, uid, gid uint32) bool {
	return mode&0o002 != 0 || mode&0o020 != 0 && gid != uid
}

// whose names a user for a message.
func whose(uid int) string {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return u.Username + " (uid " + strconv.Itoa(uid) + ")"
	}
	return "uid " + strconv.Itoa(uid)
}
