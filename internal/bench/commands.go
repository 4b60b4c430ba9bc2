package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"plimsoll/internal/bench/beside"
	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/docker"
)

// The commands of everarts2020 in a shell loop, beside the workload echo: what a
// user sees who types docker create, start and exec and looks at the clock. Both
// make the same container and take turns in random order.
const commandPairs = 40

// shellLoop is one shell for the whole loop, as its authors' program was one: the
// first command of a new shell takes half as long again. It makes a life for each
// name that it reads, and prints the clock before each command and after the last,
// in microseconds.
const shellLoop = `set -u
while read -r name word; do
	t0=$EPOCHREALTIME
	docker create -ti --name "$name" --label "$LABEL" --cpus 1 --memory 1073741824 --memory-swap 1073741824 --network none \
		--pull never --log-driver none --init=false --entrypoint sh "$IMAGE" >/dev/null || { echo "docker create"; exit 1; }
	t1=$EPOCHREALTIME
	docker start "$name" >/dev/null || { echo "docker start"; exit 1; }
	t2=$EPOCHREALTIME
	said=$(docker exec "$name" /bin/echo Hello World "$word") || { echo "docker exec"; exit 1; }
	t3=$EPOCHREALTIME
	docker rm --force --volumes "$name" >/dev/null || { echo "docker rm"; exit 1; }
	echo "$t0 $t1 $t2 $t3 $said"
done`

func commands(ctx context.Context, args ...string) (err error) {
	pairs, err := pairsAsked(args, commandPairs)
	if err != nil {
		return err
	}
	e := docker.New()
	kit, done, err := benchKit(ctx, []engine.Engine{e})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	spec := engine.Spec{ID: "bench", Limits: engine.Limits{CPUs: 1, MemoryBytes: 1 << 30},
		Levels: map[string]string{engine.Client: "cli", engine.Network: "none", engine.Image: "busybox"}}
	env, err := e.Open(ctx, kit, spec)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, env.Close(context.WithoutCancel(ctx))) }()
	like, err := modelled(ctx, kit, env)
	if err != nil {
		return err
	}
	shell, err := newShell(ctx, kit)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, shell.close()) }()

	var ours, theirs []beside.Phases
	for pair := -1; pair < pairs; pair++ { // the first warms up
		var a, b beside.Phases
		turns := []func() error{
			func() (err error) { a, err = byAdapter(ctx, kit, env); return },
			func() (err error) { b, err = shell.life(kit, like); return },
		}
		if err := errors.Join(shuffled(turns), ctx.Err()); err != nil {
			return err
		}
		if pair >= 0 {
			ours, theirs = append(ours, a), append(theirs, b)
		}
	}
	if missed := beside.ShowCommands(os.Stdout, ours, theirs); missed > 0 {
		return fmt.Errorf("%d of 3 commands differ by more than %.0f %%", missed, 100*beside.Agreement)
	}
	return nil
}

// byAdapter is one life by the adapter.
func byAdapter(ctx context.Context, kit *engine.Kit, env engine.Environment) (p beside.Phases, err error) {
	word := adapter.Word()
	res, err := env.(engine.Commander).Commands(ctx, engine.Task{Name: adapter.Name(kit.RunID, "ours", word[:8]),
		Argv: []string{"/bin/echo", "Hello", "World", word}, Limit: lifeLimit})
	switch {
	case err != nil:
		return p, err
	case res.Failure != nil:
		return p, errors.New(res.Failure.Text)
	case string(res.Stdout) != "Hello World "+word+"\n":
		return p, fmt.Errorf("echo said %q", res.Stdout)
	}
	for i, c := range beside.CommandPhases {
		p[i] = float64(res.Events[c.To]-res.Events[c.From]) / 1e6
	}
	return p, nil
}

// modelled is what the ledger says of one of the adapter's containers, with no
// name yet.
func modelled(ctx context.Context, kit *engine.Kit, env engine.Environment) (engine.Thing, error) {
	ended := make(chan error, 1)
	go func() {
		_, err := byAdapter(ctx, kit, env)
		ended <- err
	}()
	for {
		for _, t := range kit.Ledger.Left() {
			if t.Kind == engine.KindContainer {
				t.Name = ""
				return t, <-ended
			}
		}
		select {
		case err := <-ended:
			return engine.Thing{}, errors.Join(errors.New("the adapter has told the ledger of no container"), err)
		case <-time.After(time.Millisecond):
		}
	}
}

// shell is the loop under way. Interrupts do not reach it: a life that has begun
// comes to its end, and so leaves no container that a client was killed over.
type shell struct {
	process *child.Process
	in      *io.PipeWriter
	out     *bufio.Reader
}

func newShell(ctx context.Context, kit *engine.Kit) (*shell, error) {
	asked, in := io.Pipe()
	out, said := io.Pipe()
	p, err := child.Start(context.WithoutCancel(ctx), child.Command{Argv: []string{"bash", "-c", shellLoop}, Stdin: asked, Stdout: said, Stderr: os.Stderr,
		Env: append(os.Environ(), "LABEL="+engine.Label+"="+kit.RunID, "IMAGE="+kit.Images.Tag("busybox", kit.RunID))})
	if err != nil {
		return nil, fmt.Errorf("starting the shell: %w", err)
	}
	go func() {
		<-p.Ended()
		_ = said.Close() // so that nobody waits for what a dead shell will not say
	}()
	return &shell{process: p, in: in, out: bufio.NewReader(out)}, nil
}

// life is one life by the shell.
func (s *shell) life(kit *engine.Kit, like engine.Thing) (beside.Phases, error) {
	word := adapter.Word()
	like.Name = adapter.Name(kit.RunID, "shell", word[:8])
	return engine.Account(kit.Ledger, like, func() (beside.Phases, error) {
		if _, err := fmt.Fprintln(s.in, like.Name, word); err != nil {
			return beside.Phases{}, fmt.Errorf("asking the shell for a life: %w", err)
		}
		late := time.AfterFunc(lifeLimit, s.process.End)
		defer late.Stop()
		line, err := s.out.ReadString('\n')
		if err != nil {
			return beside.Phases{}, fmt.Errorf("the shell has ended, or was at it for more than %v: %w", lifeLimit, err)
		}
		return beside.ReadPhases(line, word)
	}, func(beside.Phases) bool { return true })
}

func (s *shell) close() error {
	err := s.in.Close()
	late := time.AfterFunc(lifeLimit, s.process.End)
	defer late.Stop()
	if _, werr := s.process.Wait(); werr != nil {
		err = errors.Join(err, fmt.Errorf("the shell: %w", werr))
	}
	return err
}
