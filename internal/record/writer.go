package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"plimsoll/internal/common/filelock"
	"plimsoll/internal/common/safepath"
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

	dir      string // as it was named
	home     *safepath.Dir
	output   *safepath.Dir // nil until there is one
	samples  *safepath.Dir
	lock     *os.File
	mu       sync.Mutex
	trials   *lineFile
	insides  *lineFile
	seen     map[string]bool // ids in inside.jsonl
	complete map[int]bool    // trials in trials.jsonl
	sums     chain           // of trials.jsonl
}

// Create begins a run in dir, which may exist but must then be empty. Root
// writes only where nobody but itself and the user for whom it works could have
// laid a link: see safepath.
func Create(dir string, run *Run) (*Writer, error) {
	home, err := safepath.Make(dir, 0o755, safepath.Caller(os.Getenv))
	if err != nil {
		return nil, fmt.Errorf("creating the run's directory: %w", err)
	}
	w := &Writer{dir: dir, home: home}
	if err = w.mustBeFresh(); err == nil {
		err = w.takeLock()
	}
	// Once more behind the lock: another writer may have come between.
	if err == nil {
		err = w.mustBeFresh()
	}
	if err == nil {
		err = w.begin(run)
	}
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// Resume goes on with the run in dir. The torn end that a kill may have left
// is cut off; Complete then says which trials are there. Root refuses a
// directory of another user, unless that one is among the trusted, by number.
func Resume(dir string, trusted ...int) (*Writer, *Run, error) {
	rule := safepath.Caller(os.Getenv).With(trusted...)
	// Before the lock, so that no lock file is left in what is no run.
	if _, err := readRun(dir); err != nil {
		return nil, nil, err
	}
	home, err := safepath.Open(dir, rule)
	if err != nil {
		return nil, nil, fmt.Errorf("going on with a run: %w", err)
	}
	w := &Writer{dir: dir, home: home}
	var run *Run
	if err = w.takeLock(); err == nil {
		run, err = w.readRun()
	}
	if err == nil {
		w.sums.known = run.Sum
		err = w.open()
	}
	if err != nil {
		return nil, nil, errors.Join(err, w.Close())
	}
	return w, run, nil
}

// readRun reads run.json of the very directory that is written to.
func (w *Writer) readRun() (*Run, error) {
	data, err := w.home.ReadFile(RunFile, mostOfFile, "the description of a run")
	if err != nil {
		return nil, fmt.Errorf("opening a run: %w", err)
	}
	return decodeRun(filepath.Join(w.dir, RunFile), data)
}

// Whoever looks whether a run is being written holds its lock for an instant:
// only one that stays is a writer's.
const (
	lookTries = 5
	lookTime  = 10 * time.Millisecond
)

// takeLock makes us the directory's only writer.
func (w *Writer) takeLock() error {
	if err := w.home.Closed(); err != nil {
		return fmt.Errorf("writing into the run's directory: %w", err)
	}
	lock, err := w.home.OpenFile(lockFile, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("locking the run's directory: %w", err)
	}
	err = filelock.TryLock(lock)
	for range lookTries {
		if !errors.Is(err, filelock.ErrLocked) {
			break
		}
		time.Sleep(lookTime)
		err = filelock.TryLock(lock)
	}
	if err != nil {
		lock.Close()
		if errors.Is(err, filelock.ErrLocked) {
			return fmt.Errorf("%s is being written by another plimsoll: wait for it to end, or choose another directory", w.dir)
		}
		return fmt.Errorf("locking %s: %w", lock.Name(), err)
	}
	w.lock, w.seen, w.complete = lock, map[string]bool{}, map[int]bool{}
	return nil
}

// Fresh says by its error why Create would refuse dir for what is in it, before anybody
// waits for what is to be recorded there. It makes nothing, and does not try whether it could.
func Fresh(dir string) error {
	home, err := safepath.Open(dir, safepath.Caller(os.Getenv))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("creating the run's directory: %w", err)
	}
	defer home.Close()
	return (&Writer{dir: dir, home: home}).mustBeFresh()
}

// mustBeFresh refuses a directory that holds anything but what a Create that
// was killed before it wrote run.json may have left.
func (w *Writer) mustBeFresh() error {
	entries, err := w.home.List()
	if err != nil {
		return fmt.Errorf("looking into the run's directory: %w", err)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, e := range entries {
		if e.Name() != RunFile {
			continue
		}
		if _, err := w.readRun(); err != nil {
			return fmt.Errorf("%s is not empty: %w, or choose a new or empty directory", w.dir, err)
		}
		return fmt.Errorf("%s already holds a run: continue it with --resume %s, or choose another directory", w.dir, w.dir)
	}
	for _, e := range entries {
		switch name := e.Name(); name {
		case lockFile, OutputDir, SamplesDir, JobsDir:
			continue
		case TrialsFile, InsideFile:
			if info, err := e.Info(); err == nil && info.Size() == 0 {
				continue
			}
		default:
			if unfinished(name) {
				continue
			}
		}
		return fmt.Errorf("%s is not empty and not a run (it holds %q): choose a new or empty directory", w.dir, e.Name())
	}
	return nil
}

// unfinished says whether a name is one of a run.json that was never whole;
// the second is an earlier version's.
func unfinished(name string) bool {
	return safepath.IsTemp(name, RunFile) || name == RunFile+".new"
}

// tidy takes away what a kill left of a run.json that was never whole.
func (w *Writer) tidy() error {
	entries, err := w.home.List()
	for _, e := range entries {
		if unfinished(e.Name()) && e.Type().IsRegular() {
			err = errors.Join(err, w.home.Remove(e.Name()))
		}
	}
	return err
}

func (w *Writer) begin(run *Run) error {
	if err := w.open(); err != nil {
		return err
	}
	return w.Update(run)
}

// open opens the two line files, learns what is in them and cuts torn ends.
func (w *Writer) open() error {
	if err := w.tidy(); err != nil {
		return fmt.Errorf("tidying the run's directory: %w", err)
	}
	var err error
	for name, sub := range map[string]**safepath.Dir{OutputDir: &w.output, SamplesDir: &w.samples} {
		if *sub, err = w.home.MakeSub(name, 0o755); err == nil {
			err = (*sub).Closed()
		}
		if err != nil {
			return fmt.Errorf("opening the run's directory: %w", err)
		}
	}
	w.trials, err = openLines(w.home, TrialsFile, func(line []byte) error {
		// Only what a resume needs: the rest is checked when it is read.
		var t struct {
			Seq *int `json:"seq"`
		}
		line, err := w.sums.take(line)
		if err != nil {
			return err
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
	w.insides, err = openLines(w.home, InsideFile, func(line []byte) error {
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

// Update replaces run.json, at once and for good: whoever reads it sees the
// old one or the new one, whole, even after a power failure.
func (w *Writer) Update(run *Run) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := *run
	r.Format = FormatVersion
	r.Sum = &Sum{Trials: w.sums.lines, Last: sumText(w.sums.crc)}
	data, err := json.MarshalIndent(&r, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding %s: %w", RunFile, err)
	}
	if err := w.home.WriteFile(RunFile, append(data, '\n'), 0o644); err != nil {
		return fmt.Errorf("writing %s: %w", filepath.Join(w.dir, RunFile), err)
	}
	return nil
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
	line, sums := w.sums.seal(line)
	if err := w.trials.append(line, w.Sync); err != nil {
		return fmt.Errorf("recording trial %d: %w; free some room, then continue with --resume %s", t.Seq, err, w.dir)
	}
	w.sums = sums
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
		data = append(data, stderrMark...)
		data = append(data, stderr...)
	}
	f, err := w.output.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err == nil {
		_, err = f.Write(data)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return "", fmt.Errorf("keeping the output of trial %d: %w", seq, err)
	}
	return name, nil
}

// stderrMark stands in an output file between standard output and error.
const stderrMark = "--- standard error ---\n"

// CreateSamples opens the file for one collector's time series of a trial.
func (w *Writer) CreateSamples(seq int, collector string) (io.WriteCloser, error) {
	name, err := SamplesName(seq, collector)
	if err != nil {
		return nil, err
	}
	f, err := w.samples.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
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
	for _, d := range []*safepath.Dir{w.home, w.output, w.samples} {
		if d != nil {
			errs = append(errs, d.Close())
		}
	}
	if w.lock != nil {
		// Closing the file lets go of the lock; the file stays, because
		// removing it would let two writers hold locks on two files of the
		// same name.
		errs = append(errs, w.lock.Close())
	}
	w.trials, w.insides, w.lock = nil, nil, nil
	w.home, w.output, w.samples = nil, nil, nil
	err := errors.Join(errs...)
	if errors.Is(err, fs.ErrClosed) {
		return nil
	}
	return err
}
