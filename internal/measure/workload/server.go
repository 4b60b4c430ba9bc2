package workload

import (
	"fmt"

	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// FirstResponse is the metric of a server's first answer.
const FirstResponse = "first-response"

var serverMetrics = []record.Metric{
	{ID: FirstResponse, Unit: "ns", Better: record.LowerIsBetter, Title: "first response",
		What: "from when exec has started the server until the host has its first answer by HTTP, at a published port; asked again at once for as long as there is none"},
}

// Serve says that the trial is a small HTTP server, executed in a container that
// was created and started by commands of their own, and asked by the host.
type Serve struct{}

// ServerPort is where the server listens inside.
const ServerPort = 80

// Argv writes the page, which is the trial's word and proves whose server
// answers, and starts BusyBox's server, which goes into the background when it
// listens: that is when exec returns. Its streams are closed, for a client waits
// for their end.
func (Serve) Argv(word string) []string {
	script := fmt.Sprintf("echo $0 && echo $0 >%[1]s/index.html && exec httpd -p %[2]d -h %[1]s </dev/null >/dev/null 2>&1", image.WorkDir, ServerPort)
	return []string{"/bin/sh", "-c", script, word}
}

// Output is what exec prints.
func (Serve) Output(word string) string { return word + "\n" }

func serverWorkload() Workload {
	return Workload{
		Name: "server-answer", Title: "HTTP server", Group: lifeCycle, Image: "busybox", Detached: true,
		What:    "three of the engine's commands: create a container with a published port, start it, and exec BusyBox's HTTP server in it; then the host asks until it answers",
		Metrics: append(serverMetrics[:1:1], commandMetrics...), takes: itsLife, builtin: []string{"httpd"},
		Needs:    Needs{Network: true},
		payload:  func(map[string]string) probe.PayloadArgs { return probe.PayloadArgs{} },
		protocol: func(map[string]string) Instance { return Instance{Serve: &Serve{}} },
	}
}
