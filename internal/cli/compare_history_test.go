package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
)

// TestCompareHistory: earlier runs, one by one or by their folder, tell of the
// scatter between runs; what they can't be used for is said.
func TestCompareHistory(t *testing.T) {
	folder := t.TempDir()
	var dirs []string
	for i := range uint64(7) {
		s := spec(i+1, 1)
		s.ID, s.Started = "past000"+string(rune('0'+i)), time.Date(2026, 5, 1+int(i), 0, 0, 0, 0, time.UTC)
		dir := filepath.Join(folder, s.ID)
		require.NoError(t, os.Rename(s.Write(t), dir))
		dirs = append(dirs, dir)
	}
	args := []string{"compare", dirs[0], dirs[1], "--filter", "metric=startup"}
	for _, c := range []struct {
		more []string
		want string
	}{
		{nil, "is not known for"},
		{[]string{"--history", folder}, "as 5 earlier runs or more showed it"},
		{[]string{"--history", dirs[2], "--history", dirs[3], "--history", dirs[4], "--history", dirs[5]}, "as 4 earlier runs or more showed it"},
		{[]string{"--history", dirs[2]}, "is not known for"},
	} {
		status, out, errs := drive(append(args, c.more...)...)
		if status != 0 || !strings.Contains(strings.Join(strings.Fields(out), " "), c.want) {
			t.Errorf("%v: status %d: %s%s", c.more, status, out, errs)
		}
	}
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{append(args, "--history", folder, "--against", "native"), 2, "--history is for two runs"},
		{[]string{"compare", dirs[0], "--env", "crun", "--env", "runc", "--history", folder}, 2, "--history is for two runs"},
		{append(args, "--history", t.TempDir()), 1, "folder"},
	} {
		if status, _, errs := drive(c.args...); status != c.status || !strings.Contains(errs, c.want) {
			t.Errorf("%v: status %d: %s", c.args, status, errs)
		}
	}
}
