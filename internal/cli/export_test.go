package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/record/recordtest"
)

// Many runs go into one folder, each into its own file, and a second time replaces them.
func TestExportPartitioned(t *testing.T) {
	folder, dirs := recordtest.WriteAll(t, recordtest.Fleet(3, 4))
	lake := filepath.Join(t.TempDir(), "lake")
	files := func() (out []string) {
		all, err := filepath.Glob(filepath.Join(lake, "study=fleet", "host=*", "date=*", "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range all {
			rel, _ := filepath.Rel(lake, f)
			out = append(out, rel)
		}
		return out
	}
	for range 2 {
		status, out, errs := drive("export", folder, "--format", "parquet", "--partitioned", "-o", lake)
		if status != 0 || out != "" || !strings.Contains(errs, "3 runs in ") {
			t.Fatalf("%d %s%s", status, out, errs)
		}
		if got := files(); len(got) != 3 || !strings.HasPrefix(got[1], "study=fleet/host=node2/date=") || filepath.Base(got[1]) != "fleet-2.parquet" {
			t.Errorf("%q", got)
		}
	}
	other := filepath.Join(filepath.Dir(filepath.Join(lake, files()[0])), "mine.txt")
	if err := os.WriteFile(other, []byte("a user's"), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, _, errs := drive("export", dirs[0], "--format", "parquet", "--partitioned", "-o", lake, "--metric", "startup"); status != 0 || len(files()) != 4 {
		t.Errorf("%d %s %q", status, errs, files())
	}
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"export", dirs[0], dirs[1]}, 2, "--partitioned -o FOLDER"},
		{[]string{"export", folder, "--partitioned", "-o", lake}, 2, "--format parquet --partitioned -o lake"},
		{[]string{"export", folder, "--format", "parquet", "--partitioned"}, 2, "-o lake"},
		{[]string{"export", "nowhere", "--format", "parquet", "--partitioned", "-o", lake}, 1, "nowhere"},
		{[]string{"export", dirs[0], "--format", "parquet", "--partitioned", "-o", lake, "--metric", "other"}, 2, `no metric "other"`},
		{[]string{"export", dirs[0], "--format", "parquet", "--partitioned", "-o", other}, 1, "mine.txt"},
	} {
		if status, _, errs := drive(c.args...); status != c.status || !strings.Contains(errs, c.want) {
			t.Errorf("%v: status %d, want %d with %q: %s", c.args, status, c.status, c.want, errs)
		}
	}
}
