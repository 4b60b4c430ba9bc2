package portable

import (
	"context"
	"errors"
	"fmt"

	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/pods"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// pod is one pod with one container, which a trial holds. It asks for no log: that would lie
// on the engine's machine, where nobody would remove it.
type pod struct {
	s     *Server
	task  engine.Task
	res   engine.Result
	phase string // what is being done, for messages
	ctr   string // the container's id; "" until it is known
	late  bool   // the sandbox was asked for and nobody has answered: it may be made yet
}

// pods are the settings as the CRI is asked for them.
func (s settings) pods() pods.Settings {
	return pods.Settings{RunID: s.runID, HostNet: s.network == "host", Unconfined: s.seccomp, Limits: s.limits}
}

// up brings the container to run.
func (p *pod) up(ctx context.Context, set settings, image *runtimev1.ImageSpec) error {
	defer stamp.Quiet()()
	ev, config := p.res.Events, set.pods().Sandbox(p.task.Name)
	p.phase = "making the pod sandbox"
	ev[record.Request] = stamp.Now()
	made, err := p.s.runtime.RunPodSandbox(ctx, &runtimev1.RunPodSandboxRequest{Config: config, RuntimeHandler: set.runtime})
	at := stamp.Now()
	if err != nil {
		p.late = ctx.Err() != nil || unanswered(err)
		return err
	}
	ev[record.Sandbox] = at
	p.phase = "creating the container"
	ctr, err := p.s.runtime.CreateContainer(ctx, &runtimev1.CreateContainerRequest{PodSandboxId: made.GetPodSandboxId(),
		Config: set.pods().Container(p.task, "payload", image), SandboxConfig: config})
	at = stamp.Now()
	if err != nil {
		return err
	}
	ev[record.Created], p.ctr = at, ctr.GetContainerId()
	p.phase = "starting the container"
	ev[record.Start] = stamp.Now()
	_, err = p.s.runtime.StartContainer(ctx, &runtimev1.StartContainerRequest{ContainerId: p.ctr})
	at = stamp.Now()
	if err != nil {
		return err
	}
	ev[record.Started] = at
	return nil
}

// execute executes a program in the container. All of its output comes with the answer:
// that is when its first byte has reached us, too.
func (p *pod) execute(ctx context.Context, argv []string) (x engine.Result, err error) {
	defer stamp.Quiet()()
	p.phase = "executing the program"
	x.Events = map[record.Event]int64{record.Exec: stamp.Now()}
	said, err := p.s.runtime.ExecSync(ctx, &runtimev1.ExecSyncRequest{ContainerId: p.ctr, Cmd: argv})
	at := stamp.Now()
	if err != nil {
		return x, err
	}
	x.Events[record.Ready], x.Events[record.Exit] = at, at
	code := int(said.GetExitCode())
	x.Exit, x.Stdout, x.Stderr = &code, said.GetStdout(), said.GetStderr()
	return x, nil
}

// stop asks the server to stop the container, and for the status of its end.
func (p *pod) stop(ctx context.Context) error {
	defer stamp.Quiet()()
	p.phase = "stopping the container"
	p.res.Events[record.Stop] = stamp.Now()
	_, err := p.s.runtime.StopContainer(ctx, &runtimev1.StopContainerRequest{ContainerId: p.ctr, Timeout: int64(graceSeconds(*p.task.Stop))})
	at := stamp.Now()
	if err != nil {
		return err
	}
	p.res.Events[record.Stopped] = at
	p.phase = "asking for the container's status"
	r, err := p.s.runtime.ContainerStatus(ctx, &runtimev1.ContainerStatusRequest{ContainerId: p.ctr})
	if err != nil {
		return err
	}
	if st := r.GetStatus().GetState(); st != runtimev1.ContainerState_CONTAINER_EXITED {
		return fmt.Errorf("the server has stopped it, and says that its state is %s", st)
	}
	code := int(r.GetStatus().GetExitCode())
	p.res.Exit = &code
	return nil
}

// told is what the server counts of the container; nil where it says nothing.
func (p *pod) told(ctx context.Context) map[string]float64 {
	r, err := p.s.runtime.ContainerStats(ctx, &runtimev1.ContainerStatsRequest{ContainerId: p.ctr})
	if err != nil {
		return nil
	}
	values := map[string]float64{}
	if n := r.GetStats().GetMemory().GetWorkingSetBytes().GetValue(); n > 0 {
		values[memoryMetric] = float64(n)
	}
	if n := r.GetStats().GetCpu().GetUsageCoreNanoSeconds().GetValue(); n > 0 {
		values[cpuMetric] = float64(n)
	}
	return values
}

// failed says what came of a life that err ended.
func (p *pod) failed(ctx context.Context, err error) *record.Failure {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &record.Failure{Class: record.TimeOut, Text: fmt.Sprintf("did not end within %v and was killed, while %s", p.task.Limit, p.phase)}
	}
	return engine.FailureOf(p.s.wrong(p.phase, err))
}
