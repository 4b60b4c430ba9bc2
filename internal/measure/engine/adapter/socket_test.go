package adapter

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSocket(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link, file := filepath.Join(dir, "link"), filepath.Join(dir, "sock")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{file, "unix://" + file, "unix://" + link + "/sock", link + "/sock"} {
		if got := Socket(address); got != file {
			t.Errorf("%s is %s, and %s was made", address, got, file)
		}
	}
	if got := Socket("unix://" + dir + "/none"); got != dir+"/none" {
		t.Errorf("what is not there is %s", got)
	}
}
