package require

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func (n *noted) Fatalf(string, ...any) {
	n.fatal = os.ErrPermission
	runtime.Goexit()
}

// What lies below the directory for temporary files is opened, and neither that nor
// anything beside it.
func TestReachable(t *testing.T) {
	top := t.TempDir()
	tmp, beside := filepath.Join(top, "tmp"), filepath.Join(top, "beside", "in")
	deep := filepath.Join(tmp, "test", "001")
	NoError(t, os.MkdirAll(deep, 0o700))
	NoError(t, os.MkdirAll(beside, 0o700))
	NoError(t, os.Chmod(tmp, 0o777|os.ModeSticky))
	mode := func(dir string) os.FileMode {
		info, err := os.Stat(dir)
		NoError(t, err)
		return info.Mode() & (os.ModePerm | os.ModeSticky)
	}
	for _, set := range [][2]string{{"TMPDIR", tmp}, {"TMPDIR", tmp + "/"}, {"TMPDIR", tmp + "//"}, {"GOTMPDIR", tmp}} {
		t.Setenv("TMPDIR", "/")
		t.Setenv("GOTMPDIR", "")
		t.Setenv(set[0], set[1])
		for _, d := range []string{deep, filepath.Dir(deep)} {
			NoError(t, os.Chmod(d, 0o700))
		}
		Reachable(t, deep)
		if mode(deep) != 0o755 || mode(filepath.Dir(deep)) != 0o755 || mode(tmp) != 0o777|os.ModeSticky {
			t.Errorf("with %s: %v %v %v", set, mode(deep), mode(filepath.Dir(deep)), mode(tmp))
		}
		for _, d := range []string{beside, tmp, top} {
			n, done := &noted{}, make(chan struct{})
			go func() { defer close(done); Reachable(n, d) }()
			<-done
			if n.fatal == nil || mode(filepath.Dir(beside)) != 0o700 || mode(tmp) != 0o777|os.ModeSticky {
				t.Errorf("%s was opened: %v, %v", d, mode(filepath.Dir(beside)), mode(tmp))
			}
		}
	}
}
