package cri

import (
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/host/proc"
)

// joined are the sockets of servers that run already and are builds of the environment, by
// their kinds, which are their programs' names: one, unless builds of two kinds bear one
// name and no endpoint was named.
func joined(kit *engine.Kit) (kinds, sockets []string) {
	for _, kind := range []string{containerd, crio} {
		if s := kit.Joined(kind); s != "" {
			kinds, sockets = append(kinds, kind), append(sockets, s)
		}
	}
	return kinds, sockets
}

// lookedFor says what helps where no server answers: a kind, or any.
func lookedFor(kit *engine.Kit, level string) string {
	if kinds, _ := joined(kit); len(kinds) > 0 {
		return "switch the CRI on in the configuration of that " + kinds[0] + " and restart it, or name another socket"
	}
	if level == crio {
		return "install CRI-O (https://cri-o.io), or set " + variable
	}
	return "apt-get install containerd, with its CRI plug-in enabled, or set " + variable
}

// Residents returns the process that listens at the socket of a server that was running
// before.
func (env *environment) Residents() (map[string]int, error) {
	if kinds, sockets := joined(env.kit); len(kinds) > 0 {
		pid, err := proc.Here.Behind(sockets[0])
		return map[string]int{kinds[0]: pid}, err
	}
	if env.s.own == nil {
		return nil, nil
	}
	return map[string]int{env.s.own.program: env.s.own.PID}, nil
}
