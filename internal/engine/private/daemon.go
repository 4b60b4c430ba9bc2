package private

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"plimsoll/internal/engine"
	"plimsoll/internal/engine/clirun"
	"plimsoll/internal/record"
)

// Options say what daemon to start.
type Options struct {
	// Name is unique in the run, [a-z0-9-] only, and short: sockets lie below
	// a directory of this name.
	Name string
	// Configure, where given, writes the daemon's configuration into its own
	// directory and gives the command. Else Argv is the command.
	Configure func(dir string) (argv []string, err error)
	Argv      []string
	// Env is the daemon's environment, K=V, with nothing of ours; PATH is
	// added where it is missing.
	Env []string
	// User runs the daemon; nil is ourselves.
	User *engine.User
	// OwnNamespaces says that the program makes its namespaces itself, as
	// RootlessKit does: it is started in ours.
	OwnNamespaces bool
	// Hide are directories of the host that the daemon sees as empty ones of
	// its own. Only with namespaces of ours.
	Hide []string
	// FileSystems are mount points of loop file systems that the daemon needs;
	// it sees no other of ours. Only with namespaces of ours.
	FileSystems []string
	// Cgroups are names of cgroups at the top of any hierarchy that the daemon
	// makes; they are removed when it has ended.
	Cgroups []string
	// Ready returns nil once the daemon answers. It is called again and again,
	// each time for two seconds at most.
	Ready func(ctx context.Context, d *Daemon) error
	// Limit bounds the start; 0 means 30 s. Grace is between SIGTERM and
	// SIGKILL; 0 means 15 s.
	Limit, Grace time.Duration
}

// Daemon is a daemon of ours.
type Daemon struct {
	Dir string // its own directory: Kit.Dir/private/NAME
	PID int

	kit   *engine.Kit
	opts  Options
	mark  string
	made  []string // hidden directories that were not there before
	ended chan struct{}
	mu    sync.Mutex
	done  bool // Close has succeeded
}

// note is what Sweep has to know of a daemon; it is on disk before the start.
type note struct {
	Name    string   `json:"name"`
	Mark    string   `json:"mark"`
	PID     int      `json:"pid"`   // 0 until it is known
	Start   string   `json:"start"` // of the process, from /proc/PID/stat
	Cgroups []string `json:"cgroups,omitempty"`
	Made    []string `json:"made,omitempty"` // directories to remove where empty
}

const noteFile = "daemon.json"

// Start starts a daemon and waits until it is ready. The error has the last
// words of its log, and nothing of the daemon is left then.
func Start(ctx context.Context, kit *engine.Kit, o Options) (*Daemon, error) {
	if o.Limit == 0 {
		o.Limit = 30 * time.Second
	}
	if o.Grace == 0 {
		o.Grace = 15 * time.Second
	}
	if !o.OwnNamespaces {
		if err := Root(kit); err != nil {
			return nil, err
		}
	}
	d := &Daemon{kit: kit, opts: o, mark: kit.RunID + "/" + o.Name, ended: make(chan struct{})}
	if err := kit.Ledger.Made("daemon", d.mark); err != nil {
		return nil, err
	}
	err := d.start(ctx)
	if err == nil {
		return d, nil
	}
	if d.PID == 0 {
		close(d.ended) // it never began
	}
	var known *engine.Error
	if !errors.As(err, &known) {
		err = &engine.Error{Class: record.Unavailable, Text: "starting a private " + o.Name, Err: err}
	}
	return nil, errors.Join(err, d.Close(context.WithoutCancel(ctx)))
}

func (d *Daemon) start(ctx context.Context) (err error) {
	if d.Dir, err = ownFolder(d.kit, d.opts.Name, d.opts.User); err != nil {
		return err
	}
	argv := d.opts.Argv
	if d.opts.Configure != nil {
		if argv, err = d.opts.Configure(d.Dir); err != nil {
			return err
		}
	}
	hidden, err := d.hide()
	if err != nil {
		return err
	}
	if err := d.note(""); err != nil {
		return err
	}
	log, err := os.OpenFile(d.logPath(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append([]string{clirun.Path}, d.opts.Env...)
	cmd.Env = append(cmd.Env, markKey+"="+d.mark)
	cmd.Stdout, cmd.Stderr, cmd.Dir = log, log, "/"
	// A session of its own: Ctrl-C is for us, not for the daemon.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if u := d.opts.User; u != nil && d.kit.Root {
		cred := &syscall.Credential{Uid: uint32(u.UID), Gid: uint32(u.GID)}
		for _, g := range u.Groups {
			cred.Groups = append(cred.Groups, uint32(g))
		}
		cmd.SysProcAttr.Credential = cred
	}
	begin := cmd.Start
	if !d.opts.OwnNamespaces {
		begin = func() error {
			return onOwnThread(func() error {
				if err := unshare(hidden, d.opts.FileSystems); err != nil {
					return err
				}
				return cmd.Start()
			})
		}
	}
	if err := begin(); err != nil {
		return err
	}
	d.PID = cmd.Process.Pid
	p, _ := readProcess(d.PID)
	go func() {
		_ = cmd.Wait() // what it ended with, its log says better
		close(d.ended)
	}()
	if err := d.note(p.start); err != nil {
		return err
	}
	return d.await(ctx)
}

// await waits for readiness, the daemon's end or the time limit.
func (d *Daemon) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, d.opts.Limit)
	defer cancel()
	for {
		once, done := context.WithTimeout(ctx, 2*time.Second)
		err := d.opts.Ready(once, d)
		done()
		if err == nil {
			return nil
		}
		select {
		case <-d.ended:
			return d.said("it ended at once")
		case <-ctx.Done():
			return d.said(fmt.Sprintf("it was not ready within %v (%v)", d.opts.Limit, err))
		case <-time.After(30 * time.Millisecond):
		}
	}
}

// said is the error of a start that did not succeed.
func (d *Daemon) said(what string) error {
	log, _ := os.ReadFile(d.logPath())
	if len(log) > 16<<10 {
		log = log[len(log)-16<<10:]
	}
	text := fmt.Sprintf("starting a private %s: %s", d.opts.Name, what)
	if words := clirun.Words(log); words != "" {
		text += ": " + words
	}
	return &engine.Error{Class: record.Unavailable, Text: text}
}

func (d *Daemon) logPath() string { return filepath.Join(d.Dir, "log") }

// Log gives the last bytes of what the daemon has logged.
func (d *Daemon) Log(bytes int) string {
	log, _ := os.ReadFile(d.logPath())
	return string(log[max(0, len(log)-bytes):])
}

// Path is a path of the daemon's mount namespace, as we can reach it.
func (d *Daemon) Path(path string) string {
	return filepath.Join("/proc", fmt.Sprint(d.PID), "root", path)
}

// Alive says whether the daemon's first process still runs.
func (d *Daemon) Alive() bool {
	select {
	case <-d.ended:
		return false
	default:
		return true
	}
}

// hide makes the directories that stand in for hidden ones.
func (d *Daemon) hide() (map[string]string, error) {
	hidden := map[string]string{}
	for _, target := range d.opts.Hide {
		source := filepath.Join(d.Dir, "hidden", strings.ReplaceAll(strings.Trim(target, "/"), "/", "-"))
		if err := os.MkdirAll(source, 0o711); err != nil {
			return nil, err
		}
		if _, err := os.Stat(target); errors.Is(err, os.ErrNotExist) {
			d.made = append(d.made, target)
		}
		hidden[target] = source
	}
	if err := d.note(""); err != nil {
		return nil, err
	}
	for _, target := range d.made {
		if err := os.MkdirAll(target, 0o711); err != nil {
			return nil, err
		}
	}
	return hidden, nil
}

func (d *Daemon) note(start string) error {
	b, err := json.Marshal(note{d.opts.Name, d.mark, d.PID, start, d.opts.Cgroups, d.made})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(d.Dir, noteFile), append(b, '\n'), 0o600)
}

// Close ends the daemon in order: SIGTERM, the grace, then SIGKILL for it and
// whatever it left. It is safe to call twice.
func (d *Daemon) Close(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.done {
		return nil
	}
	ctx = context.WithoutCancel(ctx) // it must end after an interrupt too
	if d.Alive() {
		p, ok := readProcess(d.PID)
		if ok {
			if err := p.signal(syscall.SIGTERM); err != nil {
				return err
			}
		}
		select {
		case <-d.ended:
		case <-time.After(d.opts.Grace):
		}
	}
	if d.Dir != "" { // its helpers end a moment after it
		last, cancel := context.WithTimeout(ctx, time.Second)
		waitFamily(last, d.mark)
		cancel()
	}
	if d.Dir != "" {
		n := note{Name: d.opts.Name, Mark: d.mark, Cgroups: d.opts.Cgroups, Made: d.made}
		if err := n.finish(ctx, d.Dir); err != nil {
			return fmt.Errorf("ending the private %s: %w", d.opts.Name, err)
		}
	}
	d.done = true
	return d.kit.Ledger.Gone("daemon", d.mark)
}

// finish kills what is left of a daemon and removes what it made. A directory
// that can't be removed keeps its note, so that the next sweep finds it.
func (n note) finish(ctx context.Context, dir string) error {
	if err := killFamily(ctx, n.Mark); err != nil {
		return err
	}
	var errs []error
	for _, name := range n.Cgroups {
		errs = append(errs, removeCgroups(name))
	}
	for _, made := range n.Made {
		_ = os.Remove(made) // fails where somebody uses it by now
	}
	if err := errors.Join(errs...); err != nil || dir == "" {
		return err
	}
	return removeFolder(dir)
}
