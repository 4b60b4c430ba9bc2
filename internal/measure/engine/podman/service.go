package podman

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// service is a `podman system service` of ours, with the options that the
// environment's commands have.
type service struct {
	cmd  *exec.Cmd
	p    *program
	said *tail
	done chan struct{}
	kit  *engine.Kit
	dir  string
}

const (
	serviceStart = 20 * time.Second // until it answers
	serviceEnd   = 10 * time.Second // between SIGTERM and SIGKILL
	// maxSocket is the longest path of a Unix socket, see unix(7).
	maxSocket = 107
	// serviceDir begins the names of the directories with our sockets.
	serviceDir = "podman-service-"
)

// connect gives the REST service for an environment: the user's own where that
// one answers and does what is asked for by itself, else one of ours, which
// release ends.
func (env *environment) connect(ctx context.Context, kit *engine.Kit, id string) (whose string, err error) {
	if !env.p.told {
		for _, socket := range env.p.sockets(kit) {
			if adapter.Asleep(ctx, kit, "Podman's service", socket) != nil {
				continue
			}
			r := newRest(socket)
			if r.answers(ctx) == nil {
				env.rest = r
				return "user's", nil
			}
			r.close()
		}
	}
	s, err := env.p.serve(ctx, kit, id)
	if err != nil {
		return "", err
	}
	env.rest, env.service = newRest(s.socket()), s
	return "private", env.await(ctx)
}

// sockets are where the user's own service would be.
func (p *program) sockets(kit *engine.Kit) []string {
	var list []string
	if u, err := url.Parse(kit.Getenv("CONTAINER_HOST")); err == nil && u.Scheme == "unix" && p.as == nil {
		list = append(list, u.Path)
	}
	run := "/run"
	if p.user != nil {
		run = p.user.RuntimeDir
	}
	return append(list, filepath.Join(run, "podman/podman.sock"))
}

// short is a name that fits into a socket's path, whatever the environment is
// called.
func short(name string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // never fails
	return fmt.Sprintf("%08x", h.Sum32())
}

// serve starts a service.
func (p *program) serve(ctx context.Context, kit *engine.Kit, id string) (*service, error) {
	s := &service{kit: kit, p: p, dir: filepath.Join(kit.Dir, serviceDir+kit.RunID+"-"+short(id+" "+p.who())), said: &tail{}, done: make(chan struct{})}
	if n := len(s.socket()); n > maxSocket {
		return nil, &engine.Error{Class: record.Unavailable,
			Text: fmt.Sprintf("the path of podman's socket would be %d bytes long, and the kernel takes %d: %s", n, maxSocket, s.socket())}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := kit.Ledger.Made(s.thing()); err != nil {
		return nil, err
	}
	if err := adapter.OwnDirMode(s.dir, p.as, kit, 0o700); err != nil {
		return nil, err
	}
	argv := p.argv([]string{"system", "service", "--time=0", "unix://" + s.socket()})
	if p.unsynced {
		argv = probe.Unsynced(kit.ProbePath, argv)
	}
	s.cmd = exec.Command(argv[0], argv[1:]...)
	s.cmd.Env, s.cmd.Dir = p.env, "/"
	s.cmd.Stdout, s.cmd.Stderr = s.said, s.said
	s.cmd.WaitDelay = time.Second // the pause process inherits our standard error
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: adapter.Credential(p.as)}
	if err := s.cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("starting podman's service: %w", err), adapter.RemoveDir(s.dir, p.as, kit), kit.Ledger.Gone(s.thing()))
	}
	go func() {
		_ = s.cmd.Wait() // how it ended shows in what it said
		close(s.done)
	}()
	return s, nil
}

func (s *service) socket() string { return filepath.Join(s.dir, "podman.sock") }

// await returns when our service answers.
func (env *environment) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, serviceStart)
	defer cancel()
	for {
		err := env.rest.answers(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-env.service.done:
			return &engine.Error{Class: record.Unavailable, Text: "podman's service ended at once: " + adapter.Words(env.service.said.bytes())}
		case <-ctx.Done():
			return &engine.Error{Class: record.TimeOut, Text: fmt.Sprintf("podman's service did not answer within %v", serviceStart), Err: err}
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// lost says why the service does not answer, where that is known: it is ours
// and has ended.
func (env *environment) lost() string {
	if env.service == nil {
		return ""
	}
	select {
	case <-env.service.done:
		return "; podman's service has ended (" + env.service.cmd.ProcessState.String() + "), and had said: " + adapter.Words(env.service.said.bytes())
	default:
		return ""
	}
}

// enter moves the service into cgroups, given by their cgroup.procs files:
// what it starts is born there. No container of it exists yet.
func (s *service) enter(files []string) error {
	for _, pid := range family(s.cmd.Process.Pid) {
		for _, file := range files {
			if err := os.WriteFile(file, []byte(strconv.Itoa(pid)), 0); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("moving podman's service into the cgroup %s: %w", filepath.Dir(file), err)
			}
		}
	}
	return nil
}

// family is a process with its children and theirs.
func family(pid int) []int {
	all := []int{pid}
	for i := 0; i < len(all); i++ {
		files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", all[i]))
		for _, file := range files {
			text, _ := os.ReadFile(file)
			for _, f := range strings.Fields(string(text)) {
				if n, err := strconv.Atoi(f); err == nil && !slices.Contains(all, n) {
					all = append(all, n)
				}
			}
		}
	}
	return all
}

// close ends the service and removes its socket.
func (s *service) close(context.Context) error {
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // where it has ended by itself
	select {
	case <-s.done:
	case <-time.After(serviceEnd):
	}
	// As an ordinary user's podman it is two processes of one session.
	_ = s.p.asUser(func() error { return syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) })
	<-s.done
	if err := adapter.RemoveDir(s.dir, s.p.as, s.kit); err != nil {
		return fmt.Errorf("removing the socket of podman's service: %w", err)
	}
	return s.kit.Ledger.Gone(s.thing())
}

// thing is what the ledger says of a service: its directory is its name, since
// nobody else's socket lies there.
func (s *service) thing() engine.Thing {
	return s.p.thing(engine.KindProcess, s.dir)
}

// services finds the processes of a service that a killed run has left: what
// serves on a socket in a directory of the ledger's. As an ordinary user's
// podman it is two.
func (p *program) services(t engine.Thing) []engine.Leftover {
	socket := []byte("\x00unix://" + t.Name + "/")
	var ends []func() error
	for pid, line := range adapter.CommandLines() {
		// Anybody can give a process of theirs this command line: the secret is the proof.
		if bytes.Contains(line, []byte("\x00system\x00service\x00")) && bytes.Contains(line, socket) && adapter.RunsAs(pid, p.uid()) && proc.Here.Inherited(pid, p.mark) {
			ends = append(ends, func() error { return p.endService(pid, line) })
		}
	}
	if len(ends) == 0 {
		return nil
	}
	return []engine.Leftover{{Thing: t, Remove: func(context.Context) error {
		var errs []error
		for _, end := range ends {
			errs = append(errs, end())
		}
		return errors.Join(errs...)
	}}}
}

// endService kills a service with no more than its user's rights.
func (p *program) endService(pid int, line []byte) error {
	fd, err := unix.PidfdOpen(pid, 0) // so that it can't become another one
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	if now, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); !bytes.Equal(now, line) {
		return nil
	}
	err = p.asUser(func() error { return unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) })
	if err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("ending podman's service (pid %d): %w", pid, err)
	}
	return nil
}

// tail keeps the end of what a service says.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const maxTail = 16 << 10

// Write never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if n := len(t.text) - maxTail; n > 0 {
		t.text = append(t.text[:0], t.text[n:]...)
	}
	return len(p), nil
}

func (t *tail) bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(t.text)
}
