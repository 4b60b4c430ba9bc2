package safepath

import (
	"os"
	"syscall"
)

// Foreign finds, among files and directories, the first that belongs to a user
// whom the rule does not trust, and gives that user's name for a message and
// number. where is "" where all are trusted.
func (r Rule) Foreign(paths ...string) (where, name string, uid int, err error) {
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return "", "", 0, err
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok && !r.trusts(st.Uid) {
			return p, whose(int(st.Uid)), int(st.Uid), nil
		}
	}
	return "", "", 0, nil
}
