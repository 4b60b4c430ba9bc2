package run

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"time"
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
	return State{}, errors.New("finding a place for our state: neither HOME nor XDG_STATE_HOME is set; set PLIMSOLL_STATE to a directory of yours")
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

var runID = regexp.MustCompile(`^[a-z0-9]{8}$`)

// NewRunID gives a new random id: eight of [a-z0-9].
func NewRunID() string {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	b := make([]byte, 8)
	_, _ = rand.Read(b) // never fails: the Go runtime ends the program instead
	for i := range b {
		b[i] = letters[int(b[i])%len(letters)]
	}
	return string(b)
}

// Claim makes the folder of a run and says that it is ours.
func (s State) Claim(id, output string) (string, error) {
	if !runID.MatchString(id) {
		return "", fmt.Errorf("claiming a run's folder: %q is no run id", id)
	}
	dir := s.RunDir(id)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("claiming a run's folder: %w", err)
	}
	pid := os.Getpid()
	start, err := startTime(pid)
	if err != nil {
		return "", err
	}
	b, err := json.Marshal(Owner{RunID: id, PID: pid, Start: start, Output: output, Started: time.Now()})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "owner.json"), append(b, '\n'), 0o644); err != nil {
		return "", fmt.Errorf("claiming a run's folder: %w", err)
	}
	return dir, nil
}

// Release removes the folder of a run.
func (s State) Release(id string) error {
	if !runID.MatchString(id) {
		return fmt.Errorf("releasing a run's folder: %q is no run id", id)
	}
	return os.RemoveAll(s.RunDir(id))
}

// Abandoned lists the runs whose folder is there though their process is gone.
func (s State) Abandoned() ([]Owner, error) {
	entries, err := os.ReadDir(filepath.Join(s.Dir, "runs"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("looking for abandoned runs: %w", err)
	}
	var gone []Owner
	for _, e := range entries {
		if !runID.MatchString(e.Name()) {
			continue
		}
		o := Owner{RunID: e.Name()}
		if b, err := os.ReadFile(filepath.Join(s.RunDir(e.Name()), "owner.json")); err == nil {
			_ = json.Unmarshal(b, &o) // a torn file leaves no live owner, which is the truth
		}
		o.RunID = e.Name()
		if !o.alive() {
			gone = append(gone, o)
		}
	}
	sort.Slice(gone, func(i, k int) bool { return gone[i].RunID < gone[k].RunID })
	return gone, nil
}

// alive says whether the process that claimed the folder still runs.
func (o Owner) alive() bool {
	if o.PID <= 0 {
		return false
	}
	start, err := startTime(o.PID)
	return err == nil && start == o.Start
}
