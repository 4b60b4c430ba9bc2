//go:build linux

package collect

import (
	"context"

	"plimsoll/internal/measure/engine"
)

// Part is whose use of the machine a quantity is.
type Part string

// The parts that are told apart.
const (
	// Payload: what runs inside: its control group where it has one of its
	// own, else its process and that one's descendants.
	Payload Part = "payload"
	// Monitor: what the engine keeps running for this container: the chain of
	// parents from the payload up to the daemon or us (containerd-shim,
	// conmon, the monitor of LXC, a starter), and what else these keep (the
	// pause process of a pod, gVisor's gofer).
	Monitor Part = "monitor"
	// Daemon: the engine's own processes, for all containers together.
	Daemon Part = "daemon"
	// Client: command lines that we started and that are none of these.
	Client Part = "client"
	// Host: the whole machine, as sar and free see it.
	Host Part = "host"
	// Own: this package's own thread.
	Own Part = "own"
)

// Subject is what is watched: a container of one trial and what belongs to it.
type Subject struct {
	// Role tells several containers of one trial apart; it becomes part of the
	// series' name. Empty where there is one.
	Role string
	// Word is the trial's word: the payload is the process of the probe that
	// has it in its command line.
	Word string
	// PIDs are processes of the payload that are known (Place.PID), as the
	// host numbers them; with any given, nothing is searched for.
	PIDs []int
	// Sockets and Daemons lead to the engine's own processes, see
	// engine.Daemons: the processes behind the sockets and the given ones,
	// with the descendants that are no container's.
	Sockets []string
	Daemons []int
	// Parts are those that are sampled; none means all.
	Parts []Part
}

// Of is the subject of a trial with this word in an environment: with the
// engine's daemons, and with the payload's PID where a held container is given.
// The daemons are asked for, which may take a moment: not between a trial's
// quiet and its request.
func Of(ctx context.Context, env engine.Environment, word string, held engine.Held) Subject {
	s := Subject{Word: word}
	if held != nil {
		if pid := held.Place().PID; pid > 0 {
			s.PIDs = []int{pid}
		}
	}
	if d, ok := env.(engine.Daemons); ok {
		s.Sockets, s.Daemons = d.Daemons(ctx)
	}
	return s
}
