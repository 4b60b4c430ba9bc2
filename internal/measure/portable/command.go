package portable

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// program is an engine's command line, told where its daemon is as its user tells it.
type program struct {
	engine string
	path   string
	args   []string // before the verb
	env    []string // besides ours
	drops  []string // variables of ours that lead elsewhere
	runID  string
}

// command finds the program for an address. Podman's at the usual place is called as
// it is: on Linux it needs no service then.
func (s Surroundings) command(a Address, runID string) (*program, error) {
	path, err := s.LookPath(a.Engine)
	if err != nil {
		return nil, unavailable(err, "", "finding the program %s", a.Engine)
	}
	p := &program{engine: a.Engine, path: path, runID: runID}
	switch {
	case a.Context != "":
		p.args = []string{"--context", a.Context}
	case a.Engine == Docker:
		p.env = append([]string{"DOCKER_HOST=" + a.Host}, a.TLS.env()...)
	default:
		// What the user has set now may be another one than when the run began.
		p.drops = []string{"CONTAINER_HOST", "CONTAINER_CONNECTION"}
		p.args = a.podmanArgs()
	}
	return p, nil
}

// podmanArgs tell Podman's command the address; without one it needs no service on Linux.
func (a Address) podmanArgs() (args []string) {
	if a.From == usualPlace {
		return nil
	}
	args = []string{"--url", a.Host}
	if a.Identity != "" {
		args = append(args, "--identity", a.Identity)
	}
	if t := a.TLS; t != nil {
		for _, x := range [][]string{{"--tls-ca", t.CA}, {"--tls-cert", t.Cert}, {"--tls-key", t.Key}} {
			if x[1] != "" {
				args = append(args, x...)
			}
		}
	}
	return args
}

// env tells Docker's command the files of a connection.
func (t *TLS) env() []string {
	if t == nil {
		return nil
	}
	env := []string{"DOCKER_TLS=1", "DOCKER_TLS_VERIFY=1"}
	if t.SkipVerify {
		env[1] = "DOCKER_TLS_VERIFY="
	}
	if file := cmp.Or(t.CA, t.Cert, t.Key); file != "" {
		env = append(env, "DOCKER_CERT_PATH="+filepath.Dir(file))
	}
	return env
}

// leaveLimit is how long a program that was killed may hold our pipes, by a child.
const leaveLimit = 2 * time.Second

// start prepares a call of the program.
func (p *program) start(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.path, append(append([]string(nil), p.args...), args...)...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(p.drops, name)
	})
	cmd.Env = append(cmd.Env, p.env...)
	cmd.WaitDelay = leaveLimit
	return cmd
}

// ask calls the program and gives what it prints.
func (p *program) ask(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	cmd := p.start(ctx, args...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return "", &engine.Error{Class: record.EngineError, Text: fmt.Sprintf("%s %s: %s", p.engine, args[0], lastLine(said.Bytes())), Err: err}
	}
	return strings.TrimSpace(out.String()), nil
}

// byCommand is an environment whose containers are whole commands.
type byCommand struct {
	p        *program
	settings settings
	ledger   *Ledger
	thing    func(kind, name string) engine.Thing
}

// args are the settings as the program takes them.
func (s settings) args(task engine.Task) []string {
	args := []string{"run", "--rm", "--name", task.Name, "--label", engine.Label + "=" + s.runID, "--pull", "never", "--log-driver", "none", "--init=false"}
	if s.runtime != "" {
		args = append(args, "--runtime", s.runtime)
	}
	if s.network != "" {
		args = append(args, "--network", s.network)
	}
	if s.seccomp {
		args = append(args, "--security-opt", "seccomp=unconfined")
	}
	if s.limits.CPUs > 0 {
		args = append(args, "--cpus", strconv.FormatFloat(s.limits.CPUs, 'f', -1, 64))
	}
	if n := s.limits.MemoryBytes; n > 0 {
		text := strconv.FormatInt(n, 10)
		args = append(args, "--memory", text, "--memory-swap", text)
	}
	for _, kv := range task.Env {
		args = append(args, "--env", kv)
	}
	args = append(args, "--entrypoint", task.Argv[0], s.image)
	return append(args, task.Argv[1:]...)
}

// run is one `docker run --rm`: its end is the container's removal.
func (e *byCommand) run(ctx context.Context, task engine.Task) (engine.Result, error) {
	thing := e.thing(engine.KindContainer, task.Name)
	if err := e.ledger.Made(thing); err != nil {
		return engine.Result{}, err
	}
	within, cancel := context.WithTimeout(ctx, task.Limit)
	defer cancel()
	res := engine.Result{Events: map[record.Event]int64{}}
	cmd := e.p.start(within, e.settings.args(task)...)
	stdout, stderr := stamp.NewStream(task.OutputLimit), stamp.NewStream(task.OutputLimit)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	restore := stamp.Quiet()
	res.Events[record.Request] = stamp.Now()
	err := cmd.Start()
	var stopped sync.WaitGroup
	var stopErr error
	if err == nil && task.Stop != nil {
		stopped.Go(func() { stopErr = e.stop(within, task, stdout, &res) })
	}
	if err == nil {
		err = cmd.Wait()
	}
	at := stamp.Now()
	restore()
	over := within.Err()
	if stdout.First() == 0 {
		cancel() // nobody will be asked to stop any more
	}
	stopped.Wait()
	e.conclude(task, cmd.ProcessState, &res, over, err, at)
	if res.Failure == nil && stopErr != nil {
		res.Failure = &record.Failure{Class: record.EngineError, Text: "stopping the container: " + stopErr.Error()}
	}
	res.Stdout, res.Stderr = stdout.Kept(), stderr.Kept()
	if first := stdout.First(); first != 0 {
		res.Events[record.Ready] = first
	}
	if res.Failure != nil {
		if said := lastLine(res.Stderr); said != "" {
			res.Failure.Text += ": " + said
		}
		if rerr := e.p.removeContainer(ctx, task.Name); rerr != nil {
			res.Failure.Text += "; " + rerr.Error()
			return res, nil // the ledger keeps it
		}
	}
	return res, e.ledger.Gone(thing)
}

// stop asks the program to stop the container, once it has said its first word.
func (e *byCommand) stop(ctx context.Context, task engine.Task, stdout *stamp.Stream, res *engine.Result) error {
	select {
	case <-stdout.Ready():
	case <-ctx.Done():
		return ctx.Err()
	}
	cmd := e.p.start(ctx, "stop", "-t", strconv.Itoa(graceSeconds(*task.Stop)), task.Name)
	begin := stamp.Now()
	err := cmd.Run()
	if err == nil {
		res.Events[record.Stop], res.Events[record.Stopped] = begin, stamp.Now()
	}
	return err
}
