package fleet

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/filelock"
	"plimsoll/internal/common/safepath"
)

// What lies in a run's folder on a host.
const (
	ledgerName  = "ledger" // whose folder it is: the run's id
	programName = "plimsoll"
	requestName = "request.json"
	studyDir    = "study"
	recordDir   = "record"
	logName     = "log"
	processName = "process" // held by the run's process as long as it lives
	endName     = "end"     // its exit status
	fetchedName = "fetched" // the record is where it belongs
	stateDir    = "state"
)

// Request is what is to be run on a host.
type Request struct {
	ID   string   `json:"id"`
	Args []string `json:"args"` // of plimsoll run, without those that we add
	// Resume: the record is gone on with.
	Resume bool `json:"resume,omitempty"`
	// For is the machine and directory that the record is for, for people.
	For string `json:"for,omitempty"`
}

// Here is a run's folder on the host that we are on.
type Here struct{ Dir string }

// OpenHere sees that a folder is a run's, by its ledger.
func OpenHere(dir string) (*Here, error) {
	h := &Here{Dir: filepath.Clean(dir)}
	info, err := os.Lstat(h.Dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() || !owned(info) || info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s is not a folder that only this run uses", h.Dir)
	}
	if id, err := h.text(ledgerName); err != nil || id != filepath.Base(h.Dir) {
		return nil, fmt.Errorf("%s is not a run's folder: its ledger says %q", h.Dir, id)
	}
	return h, nil
}

// ID is of the run.
func (h *Here) ID() string { return filepath.Base(h.Dir) }

func (h *Here) path(name string) string { return filepath.Join(h.Dir, name) }

func (h *Here) text(name string) (string, error) {
	data, err := safepath.ReadRegular(h.path(name), mostOfLedger, "a line of text")
	return strings.TrimSpace(string(data)), err
}

// Record is the path of the record here, Log what the run prints, Study where the
// study's files are.
func (h *Here) Record() string { return h.path(recordDir) }

// Log is what the run prints.
func (h *Here) Log() string { return h.path(logName) }

// Study is where the study's files are.
func (h *Here) Study() string { return h.path(studyDir) }

// State is where what outlives a kill is kept: of root where the users of rootless
// engines come to it.
func (h *Here) State() string {
	if os.Geteuid() == 0 {
		return "/var/lib/plimsoll-" + h.ID()
	}
	return h.path(stateDir)
}

// Take reads what is sent for a run: its files and its request. How an earlier one
// has ended is forgotten.
func (h *Here) Take(in io.Reader) error {
	if pid := h.Process(); pid > 0 {
		return fmt.Errorf("the run goes on, as process %d", pid)
	}
	for _, name := range []string{endName, fetchedName} {
		if err := os.Remove(h.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	root, err := os.OpenRoot(h.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	r := bufio.NewReaderSize(in, maxLine)
	for {
		f, err := next(r)
		switch {
		case err != nil:
			return fmt.Errorf("reading what is to be run: %w", err)
		case f.Over != nil:
			return nil
		}
		first, _, _ := strings.Cut(f.File, "/")
		if f.File != requestName && first != studyDir && first != recordDir {
			return fmt.Errorf("%q is nothing of a run's", f.File)
		}
		if err := take(root, f, r); err != nil {
			return err
		}
	}
}

// Request reads what is to be run.
func (h *Here) Request() (*Request, error) {
	data, err := safepath.ReadRegular(h.path(requestName), mostOfLedger, "the request of a run")
	if err != nil {
		return nil, err
	}
	q := &Request{}
	if err := json.Unmarshal(data, q); err != nil || q.ID != h.ID() {
		return nil, fmt.Errorf("%s is of the run %q: %w", h.path(requestName), q.ID, err)
	}
	return q, nil
}

// Begin makes this process the run's: what it prints goes to the log, and nobody
// else is the run's process as long as it lives. end writes down how it ended.
func (h *Here) Begin() (end func(exit int) error, err error) {
	_, _ = unix.Setsid() // it fails where we lead a session already, which is as good
	unix.Umask(0o022)    // what engines are given is not ours alone
	lock, err := os.OpenFile(h.path(processName), os.O_RDWR|os.O_CREATE|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, err
	}
	// Who looks whether there is a process holds it for a moment.
	moment, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	switch err := filelock.Wait(moment, lock, filelock.TryLock); {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, errors.Join(errors.New("the run's process is there already"), lock.Close())
	case err != nil:
		return nil, errors.Join(fmt.Errorf("locking %s: %w", lock.Name(), err), lock.Close())
	}
	if err := lock.Truncate(0); err != nil {
		return nil, err
	}
	if _, err := lock.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0); err != nil {
		return nil, err
	}
	if err := h.settle(); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return func(exit int) error {
		defer lock.Close()
		if err := os.WriteFile(h.path(endName+".new"), []byte(strconv.Itoa(exit)+"\n"), 0o600); err != nil {
			return err
		}
		return os.Rename(h.path(endName+".new"), h.path(endName))
	}, nil
}

// Process is the run's process, 0 where it has none any more.
func (h *Here) Process() int {
	f, err := safepath.OpenRegular(h.path(processName))
	if err != nil {
		return 0
	}
	defer f.Close()
	// A shared lock keeps no other looker out.
	if !errors.Is(filelock.TryLook(f), filelock.ErrLocked) {
		return 0
	}
	data, err := io.ReadAll(io.LimitReader(f, 32))
	if err != nil {
		return 0
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(data)))
	return max(pid, 0)
}

// Ended is how the run has ended; nil while it goes on.
func (h *Here) Ended() *Over {
	if h.Process() > 0 {
		return nil
	}
	text, err := h.text(endName)
	exit, bad := strconv.Atoi(text)
	if err != nil || bad != nil {
		return &Over{Exit: -1, Cut: true}
	}
	return &Over{Exit: exit}
}

// beginLimit is how long the run's process may take to be there.
const beginLimit = 20 * time.Second

// Await waits until the run's process is there, or was.
func (h *Here) Await() error {
	for begin := time.Now(); time.Since(begin) < beginLimit; time.Sleep(20 * time.Millisecond) {
		if h.Process() > 0 {
			return nil
		}
		if _, err := os.Lstat(h.path(endName)); err == nil {
			return nil
		}
	}
	return errors.New("the run's process has not begun")
}

// Stop asks the run's process to end after the trial in flight; the second time it
// breaks that off.
func (h *Here) Stop() error {
	pid := h.Process()
	if pid <= 0 {
		return nil
	}
	err := h.signal(pid)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}

// signal sends SIGTERM to the run's process, and to no other that has its number by now.
func (h *Here) signal(pid int) error {
	fd, err := unix.PidfdOpen(pid, 0)
	switch {
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM): // before Linux 5.3, or where it is kept from us
		return unix.Kill(pid, unix.SIGTERM)
	case err != nil:
		return err
	}
	defer unix.Close(fd)
	if h.Process() != pid {
		return nil
	}
	return unix.PidfdSendSignal(fd, unix.SIGTERM, nil, 0)
}
