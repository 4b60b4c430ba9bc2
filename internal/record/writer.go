package record

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
)

// Writer writes a run's directory. It is safe for use by several goroutines,
// and it alone may write: a second writer is refused until this one is closed
// or its process has ended.
//
// What Append has returned for is in the kernel's hands: killing the process,
// by whatever signal, loses none of it. A power failure may take the last
// seconds, since a line is not forced to the disk (that would cost
// milliseconds of disk traffic right before the next trial) unless Sync is
// set; run.json always is.
type Writer struct {
	// Sync forces every trial to the disk before Append returns.
	Sync bool

	dir      string
	lock     *os.File
	mu       sync.Mutex
	trials   *lineFile
	insides  *lineFile
	seen     map[string]bool // ids in inside.jsonl
	complete map[int]bool    // trials in trials.jsonl
}

// Create begins a run in dir, which may exist but must then be empty.
func Create(dir string, run *Run) (*Writer, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("creating the run's directory: %w", err)
	}
	if err := mustBeFresh(dir); err != nil {
		return nil, err
	}
	w, err := lockedWriter(dir)
	if err != nil {
		return nil, err
	}
	// Once more behind the lock: another writer may have come between.
	if err = mustBeFresh(dir); err == nil {
		err = w.begin(run)
	}
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// Resume goes on with the run in dir. The torn end that a kill may have left
// is cut off; Complete then says which trials are there.
func Resume(dir string) (*Writer, *Run, error) {
	// Before the lock, so that no lock file is left in what is no run.
	if _, err := readRun(dir); err != nil {
		return nil, nil, err
	}
	w, err := lockedWriter(dir)
	if err != nil {
		return nil, nil, err
	}
	run, err := readRun(dir)
	if err == nil {
		err = w.open()
	}
	if err != nil {
		return nil, nil, errors.Join(err, w.Close())
	}
	return w, run, nil
}

// Whoever looks whether a run is being written holds its lock for an instant:
// only one that stays is a writer's.
const (
	lookTries = 5
	lookTime  = 10 * time.Millisecond
)

func lockedWriter(dir string) (*Writer, error) {
	lock, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("locking the run's directory: %w", err)
	}
	err = tryLock(lock)
	for range lookTries {
		if !errors.Is(err, errLocked) {
			break
		}
		time.Sleep(lookTime)
		err = tryLock(lock)
	}
	if err != nil {
		lock.Close()
		if errors.Is(err, errLocked) {
			return nil, fmt.Errorf("%s is being written by another plimsoll: wait for it to end, or choose another directory", dir)
		}
		return nil, fmt.Errorf("locking %s: %w", lock.Name(), err)
	}
	return &Writer{dir: dir, lock: lock, seen: map[string]bool{}, complete: map[int]bool{}}, nil
}

// mustBeFresh refuses a directory that holds anything but what a Create that
// was killed before it wrote run.json may have left.
func mustBeFresh(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("looking into the run's directory: %w", err)
	}
	for _, e := range entries {
		if e.Name() == RunFile {
			return fmt.Errorf("%s already holds a run: go on with it by --resume %s, or choose another directory", dir, dir)
		}
	}
	for _, e := range entries {
		switch e.Name() {
		case lockFile, OutputDir, SamplesDir, RunFile + tempSuffix:
			continue
		case TrialsFile, InsideFile:
			if info, err := e.Info(); err == nil && info.Size() == 0 {
				continue
			}
		}
		return fmt.Errorf("%s is not empty and not a run (it holds %q): choose a new or an empty directory", dir, e.Name())
	}
	return nil
}

func (w *Writer) begin(run *Run) error {
	for _, d := range []string{OutputDir, SamplesDir} {
		if err := os.MkdirAll(filepath.Join(w.dir, d), 0o755); err != nil {
			return fmt.Errorf("creating the run's directory: %w", err)
		}
	}
	if err := w.open(); err != nil {
		return err
	}
	return w.Update(run)
}

// open opens the two line files, learns what is in them and cuts torn ends.
func (w *Writer) open() error {
	var err error
	w.trials, err = openLines(filepath.Join(w.dir, TrialsFile), func(line []byte) error {
		// Only what a resume needs: the rest is checked when it is read.
		var t struct {
			Seq *int `json:"seq"`
		}
		if err := json.Unmarshal(line, &t); err != nil {
			return err
		}
		if t.Seq == nil {
			return errNoSeq
		}
		if err := checkSeq(*t.Seq); err != nil {
			return err
		}
		if w.complete[*t.Seq] {
			return errTwice(*t.Seq)
		}
		w.complete[*t.Seq] = true
		return nil
	})
	if err != nil {
		return err
	}
	w.insides, err = openLines(filepath.Join(w.dir, InsideFile), func(line []byte) error {
		var in struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal(line, &in); err != nil {
			return err
		}
		w.seen[in.ID] = true
		return nil
	})
	return err
}

// Complete is the set of trials that the directory holds, failed ones too.
// The caller must not change it, nor keep it over an Append.
func (w *Writer) Complete() map[int]bool { return w.complete }

// Dir is the run's directory.
func (w *Writer) Dir() string { return w.dir }

// Update replaces run.json, at once and for good: whoever reads it sees the
// old one or the new one, whole, even after a power failure.
func (w *Writer) Update(run *Run) error {
	r := *run
	r.Format = FormatVersion
	data, err := json.MarshalIndent(&r, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding %s: %w", RunFile, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return replaceFile(filepath.Join(w.dir, RunFile), append(data, '\n'))
}

// Append adds a trial. When it returns without an error, the trial survives
// the end of this process (see Writer for power failures).
func (w *Writer) Append(t *Trial) error {
	if err := checkSeq(t.Seq); err != nil {
		return fmt.Errorf("recording trial %d: %w", t.Seq, err)
	}
	line, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("recording trial %d: %w", t.Seq, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.complete[t.Seq] {
		return fmt.Errorf("recording trial %d: it is there already", t.Seq)
	}
	if err := w.trials.append(line, w.Sync); err != nil {
		return fmt.Errorf("recording trial %d: %w; free some room, then go on with --resume %s", t.Seq, err, w.dir)
	}
	w.complete[t.Seq] = true
	return nil
}

// AddInside records what a payload saw, once, and gives the id by which
// trials name it. It must come before the trial that names it.
func (w *Writer) AddInside(in Inside) (string, error) {
	id, err := in.digest()
	if err != nil {
		return "", fmt.Errorf("recording what the payload saw: %w", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen[id] {
		return id, nil
	}
	in.ID = id
	line, err := json.Marshal(in)
	if err == nil {
		err = w.insides.append(line, w.Sync)
	}
	if err != nil {
		return "", fmt.Errorf("recording what the payload saw: %w", err)
	}
	w.seen[id] = true
	return id, nil
}

// WriteOutput keeps what a trial printed and gives the name for Trial.Output.
// Standard error, where there is any, follows standard output after a line
// that says so.
func (w *Writer) WriteOutput(seq int, stdout, stderr []byte) (string, error) {
	name := OutputName(seq)
	data := stdout
	if len(stderr) > 0 {
		data = append([]byte(nil), stdout...)
		if len(data) > 0 && data[len(data)-1] != '\n' {
			data = append(data, '\n')
		}
		data = append(data, StderrMark...)
		data = append(data, stderr...)
	}
	if err := os.WriteFile(filepath.Join(w.dir, OutputDir, name), data, 0o644); err != nil {
		return "", fmt.Errorf("keeping the output of trial %d: %w", seq, err)
	}
	return name, nil
}

// StderrMark stands in an output file between standard output and error.
const StderrMark = "--- standard error ---\n"

// CreateSamples opens the file for one collector's time series of a trial.
func (w *Writer) CreateSamples(seq int, collector string) (io.WriteCloser, error) {
	name, err := SamplesName(seq, collector)
	if err != nil {
		return nil, err
	}
	f, err := os.Create(filepath.Join(w.dir, SamplesDir, name))
	if err != nil {
		return nil, fmt.Errorf("keeping the samples of trial %d: %w", seq, err)
	}
	return f, nil
}

// Close forces everything to the disk and lets go of the directory. It may be
// called twice.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var errs []error
	for _, f := range []*lineFile{w.trials, w.insides} {
		if f != nil {
			errs = append(errs, f.close())
		}
	}
	if w.lock != nil {
		// Closing the file lets go of the lock; the file stays, because
		// removing it would let two writers hold locks on two files of the
		// same name.
		errs = append(errs, w.lock.Close())
	}
	w.trials, w.insides, w.lock = nil, nil, nil
	err := errors.Join(errs...)
	if errors.Is(err, fs.ErrClosed) {
		return nil
	}
	return err
}
