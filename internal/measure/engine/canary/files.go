package canary

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// files are directories with data in them, where ours would be and called as
// ours are.
func files(_ context.Context, f *Flock) error {
	dirs := []string{
		filepath.Join(os.TempDir(), "plimsoll-"+f.id),
		filepath.Join(os.TempDir(), "plimsoll-clean-"+f.id),
		filepath.Join(os.TempDir(), "plimsoll-run-"+f.id),
	}
	if f.kit.Root {
		dirs = append(dirs, "/run/plimsoll-"+f.id+"-o", "/run/systemd/nspawn/propagate/plimsoll-"+f.id+"-1")
	}
	if u := f.kit.User; u != nil && u.RuntimeDir != "" {
		dirs = append(dirs, filepath.Join(u.RuntimeDir, "plimsoll-"+f.id+"-o"))
	}
	for _, dir := range dirs {
		if err := f.keep(dir, "thesis.txt", "years of work"); err != nil {
			return err
		}
	}
	return nil
}

// State plants what a user may keep in our state directory, which is the
// user's where PLIMSOLL_STATE says so.
func (f *Flock) State(dir string) {
	f.t.Helper()
	for _, it := range [][3]string{
		{"runs/20261122", "thesis.txt", "years of work"},
		{"runs/" + f.id, "run.json", "{}"},
		{"runs/torntorn", "owner.json", `{"run":"torn`},
		{"runs/otherrun", "owner.json", fmt.Sprintf(`{"run":%q,"pid":1,"start":"x"}`, f.id)},
	} {
		if err := f.keep(filepath.Join(dir, it[0]), it[1], it[2]); err != nil {
			f.t.Errorf("planting canaries in %s: %v", dir, err)
		}
	}
}

// keep makes a directory with a file in it.
func (f *Flock) keep(dir, name, text string) error {
	if err := free(dir); err != nil {
		return err
	}
	// What is missing above it goes again at the end, where it is empty then:
	// another test's canaries may be in there meanwhile.
	steps := []step{{What: dir, How: removeTree, Path: dir}}
	for parent := filepath.Dir(dir); ; parent = filepath.Dir(parent) {
		if _, err := os.Lstat(parent); err == nil || parent == filepath.Dir(parent) {
			break
		}
		steps = append(steps, step{What: parent, How: removeEmpty, Path: parent})
	}
	for _, s := range slices.Backward(steps) {
		if err := f.after(s); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return cannot("making %s: %v", dir, err)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return err
	}
	f.add("file "+path, func(context.Context) error {
		b, err := os.ReadFile(path)
		if err == nil && string(b) != text {
			err = fmt.Errorf("it says %q", b)
		}
		return err
	})
	return nil
}
