package private

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/host/proc"
)

// note is what Sweep has to know of a daemon, and its proof of what is the
// daemon's. It is on disk before the start, in a directory that nobody but
// ourselves can write to, whoever runs the daemon.
type note struct {
	Run  string `json:"run"`
	Name string `json:"name"`
	// Secret is the part of the mark that nobody can guess. Where we run the
	// daemon ourselves it can be read by us only, as can the environment that
	// has it; of an ordinary user's daemon, that user can read it there.
	Secret string `json:"secret"`
	// UID is who runs the daemon where that is another than ourselves: signals
	// are sent with no more than that one's rights.
	UID int `json:"uid,omitempty"`
	// Boot is the machine's, without which neither the pid nor the inode says
	// anything.
	Boot  string `json:"boot"`
	PID   int    `json:"pid,omitempty"`   // 0 until it is known
	Start string `json:"start,omitempty"` // of the process, from /proc/PID/stat
	// Mount is the mount namespace that was made for the daemon.
	Mount   inode    `json:"mount,omitzero"`
	Cgroups []string `json:"cgroups,omitempty"`
	Made    []madeAt `json:"made,omitempty"`
}

// inode tells a file from all others of the machine, as long as it is there.
type inode struct {
	Dev uint64 `json:"dev"`
	Ino uint64 `json:"ino"`
}

func inodeOf(st *unix.Stat_t) inode { return inode{st.Dev, st.Ino} }

const (
	noteFile    = "daemon.json"
	secretBytes = 16
	maxNote     = 1 << 20
)

func newNote(run, name string) *note {
	b := make([]byte, secretBytes)
	_, _ = rand.Read(b) // never fails: the Go runtime ends the program instead
	return &note{Run: run, Name: name, Secret: hex.EncodeToString(b), Boot: bootID()}
}

// label is what the daemon is called in the ledger and to people.
func (n *note) label() string { return n.Run + "/" + n.Name }

// mark is the value of markKey that all descendants of the daemon inherit.
func (n *note) mark() string { return n.label() + "/" + n.Secret }

// bootID is the kernel's name for this boot.
func bootID() string {
	boot, _ := proc.Here.Boot() // it is always there
	return boot
}

// write puts the note into a daemon's directory: whole, or as it was before.
func (n *note) write(dir string) error {
	b, err := json.Marshal(n)
	if err != nil {
		return err
	}
	file := filepath.Join(dir, noteFile)
	if err := os.WriteFile(file+".new", append(b, '\n'), 0o600); err != nil {
		return fmt.Errorf("noting a private daemon: %w", err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		return fmt.Errorf("noting a private daemon: %w", err)
	}
	return nil
}

// readNote reads the note of a daemon of a run, from Kit.Dir/private/NAME. It
// is nil where there is none: the kill came before it, when nothing was
// started, or when nothing was left.
func readNote(dir, run, name string) (*note, error) {
	f, err := openOwn(filepath.Join(dir, folder), name, noteFile)
	if errors.Is(err, unix.ENOENT) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the note of the private daemon %s: %w", name, err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxNote))
	var n note
	if err == nil {
		err = json.Unmarshal(b, &n)
	}
	if err == nil && (n.Run != run || n.Name != name || len(n.Secret) != hex.EncodedLen(secretBytes)) {
		err = errors.New("it is the note of something else")
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", f.Name(), err)
	}
	return &n, nil
}

// openOwn opens a regular file in a directory, following no link in names and
// taking nothing that another than ourselves could have put there.
func openOwn(dir string, names ...string) (*os.File, error) {
	at, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	path := dir
	for i := 0; ; i++ {
		if err != nil {
			return nil, &os.PathError{Op: "open", Path: path, Err: err}
		}
		var st unix.Stat_t
		if err = unix.Fstat(at, &st); err == nil && (int(st.Uid) != os.Geteuid() || st.Mode&0o022 != 0) {
			err = fmt.Errorf("it is the user %d's with mode %#o, and only we may be able to write there", st.Uid, st.Mode&0o7777)
		}
		if err == nil && i == len(names) && st.Mode&unix.S_IFMT != unix.S_IFREG {
			err = errors.New("it is not a regular file")
		}
		if err != nil {
			_ = unix.Close(at)
			return nil, &os.PathError{Op: "open", Path: path, Err: err}
		}
		if i == len(names) {
			return os.NewFile(uintptr(at), path), nil
		}
		flags := unix.O_PATH | unix.O_DIRECTORY
		if i == len(names)-1 {
			flags = unix.O_RDONLY | unix.O_NONBLOCK // of a pipe, nobody may be at the other end
		}
		next, oerr := unix.Openat(at, names[i], flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		_ = unix.Close(at)
		at, err, path = next, oerr, filepath.Join(path, names[i])
	}
}
