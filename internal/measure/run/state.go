package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"time"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/record"
)

// State is where Plimsoll keeps what outlives a run (converted images) and
// what must be found again after a kill (one folder for each run under way).
type State struct{ Dir string }

// StateDir chooses the place: $PLIMSOLL_STATE, else /var/lib/plimsoll for
// root, else $XDG_STATE_HOME/plimsoll or ~/.local/state/plimsoll.
func StateDir(root bool, getenv func(string) string) (State, error) {
	if d := getenv("PLIMSOLL_STATE"); d != "" {
		abs, err := filepath.Abs(d)
		return State{abs}, err
	}
	if root {
		return State{"/var/lib/plimsoll"}, nil
	}
	if d := getenv("XDG_STATE_HOME"); filepath.IsAbs(d) {
		return State{filepath.Join(d, "plimsoll")}, nil
	}
	if h := getenv("HOME"); filepath.IsAbs(h) {
		return State{filepath.Join(h, ".local/state/plimsoll")}, nil
	}
	return State{}, errors.New("finding a place for our state: neither HOME nor XDG_STATE_HOME is set; set PLIMSOLL_STATE to a directory of your own")
}

// Images is where images are kept between runs.
func (s State) Images() string { return filepath.Join(s.Dir, "images") }

// RunDir is the folder of one run under way.
func (s State) RunDir(id string) string { return filepath.Join(s.Dir, "runs", id) }

// Owner says which process a folder of a run belongs to.
type Owner struct {
	RunID   string    `json:"run"`
	PID     int       `json:"pid"`
	Start   string    `json:"start"` // of the process, from /proc/PID/stat, so that a pid used again is no match
	Output  string    `json:"output"`
	Started time.Time `json:"started"`
}

// ownerFile is the proof that a folder is a run's.
const ownerFile = "owner.json"

// claiming begins the name of a folder that is being claimed.
const claiming = ".claim-"

// home opens the state directory and makes what is missing. As root each
// directory on the way is root's or the caller's, and no link of others' is
// followed.
func (s State) home() (*safepath.Dir, error) {
	rule := safepath.Caller(os.Getenv)
	rule.Lasting = true // engines get paths below it
	home, err := safepath.Make(s.Dir, 0o755, rule)
	if err != nil {
		return nil, err
	}
	// Made in a directory that others may write to it would be closed to the
	// engines of ordinary users.
	return home, openTo(home, 0o755)
}

// runs opens the directory of all runs' folders; made says to make it.
func (s State) runs(made bool) (*safepath.Dir, error) {
	if !made {
		if _, err := os.Lstat(filepath.Join(s.Dir, "runs")); err != nil {
			return nil, err
		}
	}
	home, err := s.home()
	if err != nil {
		return nil, err
	}
	defer home.Close()
	runs, err := home.MakeSub("runs", 0o755)
	if err != nil {
		return nil, err
	}
	return runs, openTo(runs, 0o755)
}

// openTo gives a directory of ours a mode, where it has another.
func openTo(d *safepath.Dir, perm fs.FileMode) error {
	if d.Owner() != os.Geteuid() || d.Shared() {
		return nil
	}
	return d.Chmod(perm)
}

// Claim makes the folder of a run and says that it is ours. A folder that is
// there already is taken over only where it is this run's and its process is
// gone (a run that is resumed). The folder appears with its proof in it. Who
// may enter it beside us is user: the one of rootless engines, where there is
// one, since what runs in it may have set-user-ID programs.
func (s State) Claim(id, output string, user *engine.User) (string, error) {
	if !record.IsRunID(id) {
		return "", fmt.Errorf("claiming a run's folder: %q is no run id", id)
	}
	runs, err := s.runs(true)
	if err != nil {
		return "", fmt.Errorf("claiming a run's folder: %w", err)
	}
	defer runs.Close()
	if err := s.claim(runs, id, output, user); err != nil {
		return "", fmt.Errorf("claiming a run's folder: %w", err)
	}
	return s.RunDir(id), nil
}

func (s State) claim(runs *safepath.Dir, id, output string, user *engine.User) error {
	pid := os.Getpid()
	us, err := proc.Here.Stat(pid)
	if err != nil {
		return fmt.Errorf("reading when we began: %w", err)
	}
	proof, err := json.Marshal(Owner{RunID: id, PID: pid, Start: us.StartText(), Output: output, Started: time.Now()})
	if err != nil {
		return err
	}
	name := id
	_, err = os.Lstat(s.RunDir(id))
	fresh := errors.Is(err, fs.ErrNotExist)
	var dir *safepath.Dir
	if fresh {
		name = claiming + id
		if err := unclaim(runs, name); err != nil {
			return err
		}
		dir, err = runs.Mkdir(name, 0o700)
	} else {
		old, oerr := s.owner(id)
		switch {
		case oerr != nil:
			return fmt.Errorf("%s is there and is no run's: %w", s.RunDir(id), oerr)
		case old.alive():
			return fmt.Errorf("process %d is measuring this run", old.PID)
		}
		dir, err = runs.Sub(name)
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := dir.WriteFile(ownerFile, append(proof, '\n'), 0o644); err != nil {
		return err
	}
	if err := letIn(dir, user); err != nil || !fresh {
		return err
	}
	return runs.Rename(name, id)
}

// letIn opens a run's folder to the user of rootless engines alone.
func letIn(dir *safepath.Dir, user *engine.User) error {
	if user == nil || os.Geteuid() != 0 || user.UID == 0 {
		return dir.Chmod(0o700)
	}
	if err := dir.Group(user.GID); err != nil {
		return err
	}
	return dir.Chmod(0o710)
}

// unclaim removes what a kill has left of a claim: a folder with nothing in it
// but the proof, whole or torn.
func unclaim(runs *safepath.Dir, name string) error {
	dir, err := runs.Sub(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	entries, err := dir.List()
	if err != nil {
		return err
	}
	for _, e := range entries {
		if n := e.Name(); n != ownerFile && !safepath.IsTemp(n, ownerFile) {
			return fmt.Errorf("%s is in %s, and is nothing of a run's", n, dir.Path())
		}
	}
	for _, e := range entries {
		if err := dir.Remove(e.Name()); err != nil {
			return err
		}
	}
	return runs.Remove(name)
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
	if st, ok := fi.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() || dir.Owner() != os.Geteuid() {
		return Owner{}, fmt.Errorf("%s is another user's", path)
	}
	var o Owner
	if err := json.NewDecoder(f).Decode(&o); err != nil {
		return Owner{}, fmt.Errorf("reading %s: %w", path, err)
	}
	if o.RunID != id {
		return Owner{}, fmt.Errorf("%s is of the run %q", path, o.RunID)
	}
	return o, nil
}

// Release removes the folder of a run, with what is in it. A folder without the
// proof stays; where something is mounted in it, that stays, and the proof.
func (s State) Release(id string) error {
	if !record.IsRunID(id) {
		return fmt.Errorf("releasing a run's folder: %q is no run id", id)
	}
	if err := s.release(id); err != nil {
		return fmt.Errorf("releasing a run's folder: %w", err)
	}
	return nil
}

func (s State) release(id string) error {
	runs, err := s.runs(false)
	if err != nil {
		return err
	}
	defer runs.Close()
	dir, err := runs.Sub(id)
	if err != nil {
		return err
	}
	defer dir.Close()
	if _, err := ownerOf(dir, id); err != nil {
		return err
	}
	points, err := mountedBelow(s.RunDir(id))
	if err != nil {
		return err
	}
	if len(points) > 0 {
		return fmt.Errorf("something is mounted at %s", strings.Join(points, ", "))
	}
	// The proof goes last: a removal that is cut off can be taken up again.
	entries, err := dir.List()
	errs := []error{err}
	for _, e := range entries {
		if e.Name() != ownerFile {
			errs = append(errs, dir.RemoveAll(e.Name()))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return runs.RemoveAll(id)
}

// Abandoned lists the runs whose folder is there though their process is gone.
// A folder without the proof is none of ours, whatever it is called.
func (s State) Abandoned() ([]Owner, error) {
	runs, err := s.runs(false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("looking for abandoned runs: %w", err)
	}
	defer runs.Close()
	entries, err := runs.List()
	if err != nil {
		return nil, fmt.Errorf("looking for abandoned runs: %w", err)
	}
	var gone []Owner
	for _, e := range entries {
		if !record.IsRunID(e.Name()) {
			continue
		}
		if o, err := s.owner(e.Name()); err == nil && !o.alive() {
			gone = append(gone, o)
		}
	}
	sort.Slice(gone, func(i, k int) bool { return gone[i].RunID < gone[k].RunID })
	return gone, nil
}

// Live says whether a run's process is still there.
func (s State) Live(id string) bool {
	if !record.IsRunID(id) {
		return false
	}
	o, err := s.owner(id)
	return err == nil && o.alive()
}

// tidy removes what kills have left of claims. The machine's lock is held, so
// that nobody is claiming.
func (s State) tidy() error {
	runs, err := s.runs(false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("tidying the runs' folders: %w", err)
	}
	defer runs.Close()
	entries, err := runs.List()
	if err != nil {
		return fmt.Errorf("tidying the runs' folders: %w", err)
	}
	for _, e := range entries {
		if id, ok := strings.CutPrefix(e.Name(), claiming); ok && record.IsRunID(id) {
			_ = unclaim(runs, e.Name()) // what is somebody's stays
		}
	}
	return nil
}

// alive says whether the process that claimed the folder still runs.
func (o Owner) alive() bool {
	if o.PID <= 0 {
		return false
	}
	p, err := proc.Here.Stat(o.PID)
	return err == nil && p.StartText() == o.Start
}
