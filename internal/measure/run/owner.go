package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/filelock"
	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/host/proc"
)

// Owner says which process a folder of a run belongs to.
type Owner struct {
	RunID   string    `json:"run"`
	PID     int       `json:"pid"`
	Start   string    `json:"start"` // of the process, from /proc/PID/stat, so that a pid used again is no match
	Output  string    `json:"output"`
	Started time.Time `json:"started"`
	origin
	// Locks: the process has a lock on this very file as long as it lives.
	Locks bool `json:"locks,omitempty"`

	look error // of who looked at the lock: nil where nobody has it
}

// ownerFile is the proof that a folder is a run's.
const ownerFile = "owner.json"

// fate is what is known of the process that has claimed a folder.
type fate int

const (
	gone fate = iota
	alive
	unseen // it may go on where we can't look
)

// fate says what has become of the process. A state directory may be shared: by the
// nodes of a cluster, where home is, and by containers that are given it. Their
// processes have no number here, or that of another one.
func (o *Owner) fate(now origin) fate {
	switch {
	case o.Locks && errors.Is(o.look, filelock.ErrLocked):
		return alive
	case o.foreign(now):
		// That the lock is free says nothing: some file systems lock for one machine.
		return unseen
	case o.booted(now):
		return gone
	case o.Boot != "" && now.Boot != "" && o.PIDs != now.PIDs: // in another container of this machine
		if o.Locks && o.look == nil {
			return gone
		}
		return unseen
	case o.runs(proc.Here):
		return alive
	}
	return gone
}

// runs says whether the process that claimed the folder still runs: one of ours, by its
// number in this /proc. One that has ended and that nobody reaps is gone, as the
// processes of a container are whose first one reaps none. One that can't be looked at
// is not.
func (o *Owner) runs(in proc.Dir) bool {
	if o.PID <= 0 {
		return false
	}
	p, err := in.Stat(o.PID)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ESRCH):
		_, err = in.Stat(os.Getpid())
		return err != nil // nobody is there: this is no /proc
	case err != nil:
		return true
	}
	return p.StartText() == o.Start && p.State != 'Z' && p.State != 'X'
}

// Process names the process, with its machine where that is another one.
func (o *Owner) Process() string {
	if o.Host == "" || o.Host == here().Host {
		return fmt.Sprintf("process %d", o.PID)
	}
	return fmt.Sprintf("process %d of the host %s", o.PID, o.Host)
}

// held are the proofs of the folders that this process has claimed. Each is locked as
// long as it is open.
var held = struct {
	sync.Mutex
	files map[string]*os.File
}{files: map[string]*os.File{}}

// hold keeps the proof of a folder open; nil lets go of it.
func hold(dir string, f *os.File) {
	held.Lock()
	defer held.Unlock()
	if old := held.files[dir]; old != nil {
		_ = old.Close() // nothing is written to it any more
	}
	if delete(held.files, dir); f != nil {
		held.files[dir] = f
	}
}

// prove puts the proof into a run's folder, and keeps its lock where the file system
// has one to give.
func prove(dir *safepath.Dir, o Owner) (f *os.File, err error) {
	if err := dir.Replaceable(ownerFile); err != nil {
		return nil, err
	}
	f, temp, err := dir.Temp(ownerFile, 0o644)
	if err != nil {
		return nil, err
	}
	// Nobody knows this file yet, so nobody is in the way who only looks.
	o.Locks = filelock.TryLock(f) == nil
	text, err := json.Marshal(o)
	if err == nil {
		_, err = f.Write(append(text, '\n'))
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = dir.Rename(temp, ownerFile)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close(), dir.Remove(temp))
	}
	if err := dir.Sync(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// owner reads the proof that a folder is a run's: a regular file of ours in a
// directory of ours, which names the run as the folder does.
func (s State) owner(id string) (Owner, error) {
	runs, err := s.runs(false)
	if err != nil {
		return Owner{}, err
	}
	defer runs.Close()
	dir, err := runs.Sub(id)
	if err != nil {
		return Owner{}, err
	}
	defer dir.Close()
	return ownerOf(dir, id)
}

func ownerOf(dir *safepath.Dir, id string) (Owner, error) {
	path := filepath.Join(dir.Path(), ownerFile)
	f, err := dir.OpenFile(ownerFile, os.O_RDONLY, 0)
	if err != nil {
		return Owner{}, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return Owner{}, err
	}
	if !safepath.OwnedBy(fi, os.Geteuid()) {
		return Owner{}, safepath.Alone(path, fi) // names the user
	}
	if dir.Owner() != os.Geteuid() {
		return Owner{}, fmt.Errorf("%s is another user's", dir.Path())
	}
	var o Owner
	if err := json.NewDecoder(io.LimitReader(f, 1<<20)).Decode(&o); err != nil {
		return Owner{}, fmt.Errorf("reading %s: %w", path, err)
	}
	if o.RunID != id {
		return Owner{}, fmt.Errorf("%s is of the run %q", path, o.RunID)
	}
	if o.Locks {
		o.look = filelock.TryLook(f)
	}
	return o, nil
}
