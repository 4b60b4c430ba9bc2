package features

import (
	"context"
	"slices"
	"strings"
	"syscall"
	"time"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine/adapter"
)

// managed has Slurm start a container and end it. It ends the attempt where both
// went well or the container outlived its job; else it says why nothing is known, as a clause.
func (t *try) managed() string {
	b := t.b
	srun, err := b.kit.LookPath("srun")
	if err != nil {
		return "there is no workload manager (srun is not installed)"
	}
	env := append(slices.Clone(b.env), "SLURM_CONF="+b.kit.Getenv("SLURM_CONF"))
	if b.kit.Getenv("SLURM_CONF") == "" {
		env = b.env
	}
	if s := b.command(t.ctx, env, nil, []string{"sinfo", "--noheader", "--states=idle", "--format=%n"}); s.status != 0 || strings.TrimSpace(s.out) == "" {
		return "there is no workload manager (sinfo names no idle node)"
	}
	argv := asleep()
	name := t.container()
	job := append([]string{srun, "--job-name=" + name, "--nodes=1", "--ntasks=1", "--time=2", "--immediate=20", "--chdir=/"}, b.hand.once(name, t.image(), nil, argv...)...)
	cancel := func(ctx context.Context) { b.command(ctx, env, nil, []string{"scancel", "--name=" + name}) }
	t.later(cancel)
	out := &limited{}
	cmd, err := child.Start(t.ctx, child.Command{Argv: job, Env: append([]string{adapter.Path}, env...), Dir: "/", Stdout: out, Stderr: out})
	if err != nil {
		return "srun could not be started: " + err.Error()
	}
	defer cmd.End()
	pid := 0
	for until := time.Now().Add(child.Stretch(commandLimit / 2)); pid == 0 && time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		pid = adapter.FindProcess(argv)
		select {
		case <-cmd.Ended():
			return "under srun it did not start here: " + t.plain(said{errs: strings.TrimSpace(out.String())})
		default:
		}
	}
	if pid == 0 {
		return "srun started it on another node, or not at all, and nothing is known of it"
	}
	line := strings.Join(parents(pid), " < ")
	t.observe("%s\nfirst process of the container: %d, its parents %s", strings.Join(job, " "), pid, line)
	if !strings.Contains(line, "slurmstepd") {
		t.no("under srun a container is not a child of the job's step")
	}
	cancel(t.ctx)
	for until := time.Now().Add(child.Stretch(commandLimit / 2)); time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
		if syscall.Kill(pid, 0) != nil {
			t.observe("scancel --name=%s: process %d is gone", name, pid)
			t.yes("srun started a container, a child of the job's step, and scancel ended it")
		}
	}
	t.no("srun started a container, and it outlived its job when that was cancelled")
	return ""
}
