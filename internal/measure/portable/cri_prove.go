package portable

import (
	"context"
	"path"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/probe"
)

// initLimit is how long PID 1 is waited for. A runtime that names its processes in another
// way is gone on with after that.
const initLimit = 5 * time.Second

// prove has the trial's word said by an execution in the container, and returns when that
// has seen the container's own program as PID 1: an execution can come before the runtime
// has put the program in its own place, and a SIGTERM at that moment is lost, since nobody
// has a handler for it.
func (p *pod) prove(ctx context.Context, word string) (x engine.Result, err error) {
	argv := probe.PayloadArgs{Word: word, Report: true}.Argv(image.ProbePath)
	for until := time.Now().Add(initLimit); ; {
		if x, err = p.execute(ctx, argv); err != nil || runs(x.Stdout, word, p.task.Argv[0]) || time.Now().After(until) {
			return x, err
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return x, ctx.Err()
		}
	}
}

// runs says whether a payload's report shows that PID 1 is the program. What shows nothing
// is not waited for: a report that is none, or without /proc.
func runs(out []byte, word, program string) bool {
	said, err := probe.ParsePayload(out, word)
	if err != nil {
		return true // the trial says so
	}
	const most = 15 // bytes of a name that the kernel keeps: TASK_COMM_LEN less its end
	name, is := path.Base(program), said.Report["pid1"]
	return is == "" || is == name[:min(len(name), most)]
}
