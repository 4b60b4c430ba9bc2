//go:build linux

package proc

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// LookPath returns the program that a process starts for a name: on its own PATH and below
// its own root, which may both differ from ours. The path may lie below /proc, where the
// process has another root. The error is an fs.ErrPermission for another user's process and
// an fs.ErrNotExist where the program is not found.
func (d Dir) LookPath(pid int, name string) (string, error) {
	env, err := d.read(PID(pid), "environ")
	if err != nil {
		return "", fmt.Errorf("reading the PATH of process %d: %w", pid, err)
	}
	places := []string{""}
	if !filepath.IsAbs(name) {
		places = nil
		for kv := range strings.SplitSeq(env, "\x00") {
			if list, ok := strings.CutPrefix(kv, "PATH="); ok {
				places = filepath.SplitList(list)
			}
		}
	}
	root := filepath.Join(string(d), PID(pid), "root")
	for _, dir := range places {
		path := filepath.Join(dir, name)
		theirs, err := os.Stat(root + path)
		if err != nil || theirs.IsDir() || theirs.Mode()&0o111 == 0 || !filepath.IsAbs(path) {
			continue
		}
		if here, err := os.Stat(path); err == nil && os.SameFile(theirs, here) {
			return path, nil
		}
		return root + path, nil
	}
	return "", fmt.Errorf("the program %s of process %d: %w", name, pid, fs.ErrNotExist)
}

// Inherited says whether a process was started with this variable, "K=V", in
// its environment. It is false where the environment can't be read, and where
// variable is empty.
func (d Dir) Inherited(pid int, variable string) bool {
	env, err := d.read(PID(pid), "environ")
	return variable != "" && err == nil && bytes.Contains([]byte("\x00"+env), []byte("\x00"+variable+"\x00"))
}
