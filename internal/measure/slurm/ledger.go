package slurm

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/common/filelock"
	"plimsoll/internal/common/journal"
	"plimsoll/internal/common/safepath"
	"plimsoll/internal/record"
)

// The names in the folder of a run's jobs.
const (
	ledgerFile = "jobs.jsonl"
	scriptFile = "job.sh"
	lockFile   = ".lock"
)

// The steps of a job, as they are written down.
const (
	Submitting = "submitting" // it is about to be submitted: afterwards it may be there, though we know no number of it
	Submitted  = "submitted"
	Ended      = "ended"
)

// Entry is a line of the ledger of a run's jobs.
type Entry struct {
	At   time.Time `json:"at"`
	Step string    `json:"step"`
	Run  string    `json:"run"`
	Job  string    `json:"job,omitempty"`
	// Request and Begin, what the job's plimsoll is called with, are written
	// with the first step: the rest is submitted by them.
	Request *Request `json:"request,omitempty"`
	Begin   []string `json:"begin,omitempty"`
	// State, Nodes and Trials, of the record in all, are written at the end.
	State  State  `json:"state,omitempty"`
	Nodes  string `json:"nodes,omitempty"`
	Trials int    `json:"trials,omitempty"`
}

// Ledger is the account of a run's jobs, in the folder jobs of its record. One
// plimsoll at a time follows them.
type Ledger struct {
	Dir     string // of the record
	Entries []Entry

	jobs *safepath.Dir
	file *os.File
	lock *os.File
}

// ErrFollowed says that another plimsoll follows the jobs of a run.
var ErrFollowed = errors.New("another plimsoll follows the jobs of this run: end it by Ctrl-C (which cancels the job) or SIGHUP (which lets it go on), or wait for it")

// JobsDir is the folder of a record's jobs.
func JobsDir(dir string) string { return filepath.Join(dir, record.JobsDir) }

// Kept says whether a directory has an account of jobs.
func Kept(dir string) bool {
	fi, err := os.Lstat(filepath.Join(JobsDir(dir), ledgerFile))
	return err == nil && fi.Mode().IsRegular()
}

// AccountOf lists what an account of jobs is in, the account last: whoever owns one of
// these decides what the jobs do.
func AccountOf(dir string) []string {
	return []string{dir, JobsDir(dir), filepath.Join(JobsDir(dir), ledgerFile)}
}

// Open opens the account of a run's jobs, or begins it. It may belong to the trusted
// users, by number.
func Open(dir string, trusted ...int) (l *Ledger, err error) {
	rule := safepath.Caller(os.Getenv).With(trusted...)
	home, err := safepath.Make(dir, 0o755, rule)
	if err != nil {
		return nil, fmt.Errorf("opening the record's directory: %w", err)
	}
	defer home.Close()
	l = &Ledger{Dir: dir}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("opening the account of the run's jobs: %w", err), l.Close())
			l = nil
		}
	}()
	if l.jobs, err = home.MakeSub(record.JobsDir, 0o755); err != nil {
		return l, err
	}
	if err = l.jobs.Closed(); err != nil {
		return l, err
	}
	if l.lock, err = l.jobs.OpenFile(lockFile, os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return l, err
	}
	if err = filelock.TryLock(l.lock); errors.Is(err, filelock.ErrLocked) {
		return l, ErrFollowed
	}
	// A file system without locks (some parallel ones are mounted so) leaves it
	// to the user that there is one of us.
	if l.file, err = l.jobs.OpenFile(ledgerFile, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644); err != nil {
		return l, err
	}
	data, err := l.jobs.ReadFile(ledgerFile, 64<<20, "the ledger of a run's jobs")
	if err != nil {
		return l, err
	}
	l.Entries, err = parseLedger(data)
	return l, err
}

// parseLedger reads the lines of an account. Those that are no entries are ones
// that a kill or a full file system has torn: they are passed over.
func parseLedger(data []byte) ([]Entry, error) {
	var out []Entry
	sc := bufio.NewScanner(bytes.NewReader(data))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		var e Entry
		if json.Unmarshal(sc.Bytes(), &e) != nil || !runID.MatchString(e.Run) || (e.Job != "" && !jobID.MatchString(e.Job)) {
			continue
		}
		out = append(out, e)
	}
	return out, sc.Err()
}

// Write adds an entry; it survives us when this returns.
func (l *Ledger) Write(e Entry) error {
	e.At = time.Now()
	line, err := json.Marshal(e)
	if err == nil {
		err = journal.Append(l.file, line)
	}
	if err == nil {
		err = l.file.Sync() // the login node may be lost, too
	}
	if err != nil {
		return fmt.Errorf("writing the account of the run's jobs: %w", err)
	}
	l.Entries = append(l.Entries, e)
	return nil
}

// Last is the last job of the run: what it asked for, its number ("" while
// nobody knows whether it was submitted), and its end, nil while it has none.
func (l *Ledger) Last() (asked *Entry, job string, end *Entry) {
	for i := range l.Entries {
		switch e := &l.Entries[i]; e.Step {
		case Submitting:
			asked, job, end = e, "", nil
		case Submitted:
			job = e.Job
		case Ended:
			end = e
		}
	}
	return asked, job, end
}

// WriteScript writes a job's script and gives its path.
func (l *Ledger) WriteScript(s *Script) (string, error) {
	if err := l.jobs.WriteFile(scriptFile, []byte(s.Text()), 0o755); err != nil {
		return "", fmt.Errorf("writing the job's script: %w", err)
	}
	return filepath.Join(JobsDir(l.Dir), scriptFile), nil
}

// LogPattern is the path of the jobs' logs, for sbatch. A % of the directory's
// own would be one of Slurm's marks.
func (l *Ledger) LogPattern() string {
	return strings.ReplaceAll(JobsDir(l.Dir), "%", "%%") + "/job-%j.log"
}

// Log is the path of a job's log.
func (l *Ledger) Log(job string) string { return filepath.Join(JobsDir(l.Dir), "job-"+job+".log") }

// End is the exit status of a job's plimsoll, as its script has written it
// down; false while it has not.
func (l *Ledger) End(job string) (int, bool) {
	data, err := safepath.ReadRegular(filepath.Join(JobsDir(l.Dir), "end-"+job), 4<<10, "an exit status")
	if err != nil {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(data)))
	return n, err == nil
}

// Close lets go of the account.
func (l *Ledger) Close() error {
	var errs []error
	for _, f := range []*os.File{l.file, l.lock} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	if l.jobs != nil {
		errs = append(errs, l.jobs.Close())
	}
	return errors.Join(errs...)
}
