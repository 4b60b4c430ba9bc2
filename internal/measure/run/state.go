package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/record"
)

// State is where Plimsoll keeps what outlives a run (converted images) and
// what must be found again after a kill (one folder for each run under way).
type State struct{ Dir string }

// StateDir chooses the place: $PLIMSOLL_STATE, else /var/lib/plimsoll for
// root, else $XDG_STATE_HOME/plimsoll or ~/.local/state/plimsoll. It is named without
// the links that lead there: by such paths the kernel tells what is mounted, and which
// program a process runs, and so what is ours.
func StateDir(root bool, getenv func(string) string) (State, error) {
	dir, err := chosenDir(root, getenv)
	if err != nil {
		return State{}, err
	}
	// Where the way there is not safe, whoever opens it says why.
	if real, err := safepath.Resolve(dir, safepath.Caller(getenv)); err == nil {
		dir = real
	}
	return State{dir}, nil
}

func chosenDir(root bool, getenv func(string) string) (string, error) {
	if d := getenv("PLIMSOLL_STATE"); d != "" {
		return filepath.Abs(d)
	}
	if root {
		return "/var/lib/plimsoll", nil
	}
	if d := getenv("XDG_STATE_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "plimsoll"), nil
	}
	if h := getenv("HOME"); filepath.IsAbs(h) {
		return filepath.Join(h, ".local/state/plimsoll"), nil
	}
	return "", errors.New("finding a place for our state: neither HOME nor XDG_STATE_HOME is set; set PLIMSOLL_STATE to a directory of your own")
}

// Images is where images are kept between runs.
func (s State) Images() string { return filepath.Join(s.Dir, "images") }

// RunDir is the folder of one run under way.
func (s State) RunDir(id string) string { return filepath.Join(s.Dir, "runs", id) }

// home opens the state directory and makes what is missing. As root each
// directory on the way is root's or the caller's, and no link of others' is
// followed.
func (s State) home() (*safepath.Dir, error) {
	rule := safepath.Caller(os.Getenv)
	rule.Lasting = true // engines get paths below it
	_, err := os.Lstat(s.Dir)
	home, merr := safepath.Make(s.Dir, 0o755, rule)
	if merr != nil || !errors.Is(err, fs.ErrNotExist) {
		return home, merr // what was there has the mode that its owner gave it
	}
	return openToAll(home)
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
	runs, err := home.Mkdir("runs", 0o755)
	if errors.Is(err, fs.ErrExist) {
		return home.Sub("runs")
	}
	if err != nil {
		return nil, err
	}
	return openToAll(runs)
}

// openToAll lets everybody into a directory that was just made: the umask, or a directory
// above it that others may write to, would have closed it to the engines of ordinary users.
func openToAll(d *safepath.Dir) (*safepath.Dir, error) {
	if !d.OursAlone() {
		return d, nil
	}
	if err := d.Chmod(0o755); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// closedTo says why the user of rootless engines can't come to a run's folder; "" where
// nothing is in the way that we know of.
func (s State) closedTo(user *engine.User) string {
	if user == nil || os.Geteuid() != 0 || user.UID == 0 {
		return ""
	}
	for _, dir := range []string{s.Dir, filepath.Join(s.Dir, "runs")} {
		var st unix.Stat_t
		if unix.Stat(dir, &st) != nil {
			continue
		}
		bit := uint32(0o001)
		switch {
		case int(st.Uid) == user.UID:
			bit = 0o100
		case int(st.Gid) == user.GID, slices.Contains(user.Groups, int(st.Gid)):
			bit = 0o010
		}
		if st.Mode&bit == 0 {
			return fmt.Sprintf("%s has the mode %04o, so %s can't enter it, and rootless engines, which work for that user, will fail: chmod o+x %s, or let PLIMSOLL_STATE name a directory that is not there yet",
				dir, st.Mode&0o7777, user.Name, dir)
		}
	}
	return ""
}

// Claim makes the folder of a run and says that it is ours. A folder that is
// there already is taken over only where it is this run's and its process is
// gone (a run that is resumed), or can't be seen from here: then its user knows
// where it was. The folder appears with its proof in it. Who
// may enter it beside us is user: the one of rootless engines, where there is
// one, since what runs in it may have set-user-ID programs.
func (s State) Claim(id, output string, user *engine.User) (string, error) {
	if !record.IsRunID(id) {
		return "", fmt.Errorf("claiming a run's folder: %q is not a run id", id)
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
	now := here()
	name := id
	_, err = os.Lstat(s.RunDir(id))
	fresh := errors.Is(err, fs.ErrNotExist)
	var dir *safepath.Dir
	if fresh {
		name = claimOf(id, now)
		if err := unclaim(runs, name); err != nil {
			return err
		}
		dir, err = runs.Mkdir(name, 0o700)
	} else {
		old, oerr := s.owner(id)
		switch {
		case oerr != nil:
			return fmt.Errorf("%s exists and does not belong to a run: %w", s.RunDir(id), oerr)
		case old.fate(now) == alive:
			return fmt.Errorf("%s is measuring this run", old.Process())
		}
		dir, err = runs.Sub(name)
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	proof, err := prove(dir, Owner{RunID: id, PID: pid, Start: us.StartText(), Output: output, Started: time.Now(), origin: now})
	if err != nil {
		return err
	}
	err = letIn(dir, user)
	if err == nil && fresh {
		err = runs.Rename(name, id)
	}
	if err != nil {
		return errors.Join(err, proof.Close())
	}
	hold(s.RunDir(id), proof)
	return nil
}

// letIn opens a run's folder to the user of rootless engines alone.
func letIn(dir *safepath.Dir, user *engine.User) error {
	if user == nil || os.Geteuid() != 0 || user.UID == 0 {
		return dir.Chmod(0o700)
	}
	err := dir.Group(user.GID)
	if errors.Is(err, unix.EINVAL) { // to a user namespace that does not map it: nobody of it is here
		return dir.Chmod(0o700)
	}
	if err != nil {
		return err
	}
	return dir.Chmod(0o710)
}

// Release removes the folder of a run, with what is in it. A folder without the
// proof stays; where something is mounted in it, that stays, and the proof.
func (s State) Release(id string) error {
	if !record.IsRunID(id) {
		return fmt.Errorf("releasing a run's folder: %q is not a run id", id)
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
	points, err := proc.Here.MountedBelow(s.RunDir(id))
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
	hold(s.RunDir(id), nil) // on NFS a file that is open keeps its directory
	return runs.RemoveAll(id)
}

// Abandoned lists the runs whose folder is there though their process is gone.
// A folder without the proof is none of ours, whatever it is called. Of the hosts in
// of, which are no more, every process is gone that can't be seen from here.
func (s State) Abandoned(of ...string) ([]Owner, error) {
	over, _, _, err := s.left(of)
	return over, err
}

// Elsewhere lists the runs of which nobody can say from here whether their process is
// gone: those of other machines, and of other containers. They are not cleaned up after.
func (s State) Elsewhere(of ...string) ([]Owner, error) {
	_, unknown, _, err := s.left(of)
	return unknown, err
}

// left returns both, and which runs' folders belong to other users, each as a sentence.
func (s State) left(of []string) (over, unknown []Owner, others []string, err error) {
	runs, err := s.runs(false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil, nil
	}
	if err != nil {
		return nil, nil, nil, fmt.Errorf("looking for abandoned runs: %w", err)
	}
	defer runs.Close()
	entries, err := runs.List()
	if err != nil {
		return nil, nil, nil, fmt.Errorf("looking for abandoned runs: %w", err)
	}
	now := here()
	for _, e := range entries {
		if !record.IsRunID(e.Name()) {
			continue
		}
		o, err := s.owner(e.Name())
		if unsafe, ok := errors.AsType[*safepath.UnsafeError](err); ok {
			others = append(others, unsafe.Error())
		}
		if err != nil {
			continue
		}
		switch fate := o.fate(now); {
		case fate == gone, fate == unseen && slices.Contains(of, o.Host):
			over = append(over, o)
		case fate == unseen:
			unknown = append(unknown, o)
		}
	}
	for _, all := range [][]Owner{over, unknown} {
		slices.SortFunc(all, func(a, b Owner) int { return strings.Compare(a.RunID, b.RunID) })
	}
	return over, unknown, others, nil
}

// live says whether a run's process is still there, or may be.
func (s State) live(id string) bool {
	if !record.IsRunID(id) {
		return false
	}
	o, err := s.owner(id)
	if errno, is := errors.AsType[unix.Errno](err); is {
		return errno != unix.ENOENT && errno != unix.ENOTDIR // what can't be read is not gone
	}
	return err == nil && o.fate(here()) != gone
}
