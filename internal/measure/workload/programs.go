package workload

import (
	"strings"

	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// The parameter that says by which commands a workload's container is started.
const (
	startedByParameter = "started-by"
	startedByRun       = "run"  // the workload is the container's first process
	startedByExec      = "exec" // create, start and exec are three commands, and the container holds a shell
)

// commandMetrics are those of a life by create, start and exec, beside the life
// cycle's own create: each is one command as its user waits for it.
var commandMetrics = []record.Metric{
	{ID: "start-command", Unit: "ns", Better: record.LowerIsBetter, Title: "start command", From: record.Start, To: record.Started,
		What: "the command that starts an existing container, from its request until it has returned"},
	{ID: "create-and-start", Unit: "ns", Better: record.LowerIsBetter, Title: "create + start", From: record.Request, To: record.Started,
		What: "the commands that create and start a container, from the first one's request until the second has returned"},
	{ID: "exec-command", Unit: "ns", Better: record.LowerIsBetter, Title: "exec command", From: record.Exec, To: record.Exit,
		What: "the command that executes a program in a running container, from its request until it has returned; the program's own work is in it"},
}

// Echo says that the trial is the image's own echo, executed in a container that
// was created and started by commands of their own.
type Echo struct{}

// Argv is the program with its arguments; the word proves that it ran.
func (Echo) Argv(word string) []string { return []string{"/bin/echo", "Hello", "World", word} }

// Output is what it prints.
func (Echo) Output(word string) string { return "Hello World " + word + "\n" }

func echoWorkload() Workload {
	return Workload{
		Name: "echo", Title: "echo", Group: lifeCycle, Image: "busybox", Detached: true,
		What:    "three of the engine's commands: create and start a container that runs a shell, then exec the image's /bin/echo in it",
		Metrics: commandMetrics, takes: itsLife, builtin: []string{strings.Join(Echo{}.Argv("")[:3], " ")},
		payload:  func(map[string]string) probe.PayloadArgs { return probe.PayloadArgs{} },
		protocol: func(map[string]string) Instance { return Instance{Echo: &Echo{}} },
	}
}

// byCommands says whether the levels ask for the life by three commands.
func byCommands(chosen map[string]string) bool { return chosen[startedByParameter] == startedByExec }
