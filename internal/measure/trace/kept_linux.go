package trace

import "golang.org/x/sys/unix"

// kept are the files whose functions were read, by path: an engine's programs are the same
// in each of its starts, and a table of functions has tens of MiB.
type kept map[string]keptProgram

type keptProgram struct {
	of fileState
	*program
}

// fileState tells whether a path is still the same file, and unchanged: a program may be
// installed anew between two starts.
type fileState struct {
	device, inode    uint64
	size             int64
	written, changed unix.Timespec
}

func stateOf(path string) (s fileState, err error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return s, err
	}
	return fileState{device: uint64(st.Dev), inode: st.Ino, size: st.Size, written: st.Mtim, changed: st.Ctim}, nil //nolint:unconvert // other processors have narrower ones
}

// open reads a file's functions, unless it has them.
func (k kept) open(path string) *program {
	// Before it is read: what changes meanwhile is read again the next time.
	s, err := stateOf(path)
	if err != nil {
		return openProgram(path)
	}
	if p, ok := k[path]; ok && p.of == s {
		return p.program
	}
	p := openProgram(path)
	k[path] = keptProgram{s, p}
	return p
}
