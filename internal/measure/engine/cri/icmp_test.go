package cri

import (
	"strings"
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/pods"
)

// Only a task that sends echo requests asks for ICMP sockets, only in a pod
// with a network of its own, and nothing else of the request is another.
func TestICMPRequest(t *testing.T) {
	for _, c := range []struct {
		network string
		icmp    bool
		want    int
	}{
		{engine.DefaultLevel, true, 1}, {engine.DefaultLevel, false, 0}, {"host", true, 0},
	} {
		s := settings{Settings: pods.Settings{HostNet: c.network == "host", RunID: "r"}}
		pod := s.podFor(engine.Task{Name: "a", ICMP: c.icmp}, "a")
		if got := pod.GetLinux().GetSysctls(); len(got) != c.want {
			t.Errorf("network %s, ICMP %v: the pod's sysctls are %v, expected %d", c.network, c.icmp, got, c.want)
		}
		pod.Linux.Sysctls = nil
		if plain := s.pod("a"); plain.String() != pod.String() {
			t.Errorf("the request differs in more than the sysctl: %v, and %v", plain, pod)
		}
	}
}

// Each server that is there gives a pod that asks for it ICMP sockets. (What it
// does unasked is its configuration's.)
func TestICMP(t *testing.T) {
	everywhere(t, func(t *testing.T, kit *engine.Kit, env *environment) {
		task := shell(kit, "cat /proc/sys/net/ipv4/ping_group_range")
		task.ICMP = true
		res, err := env.Run(t.Context(), task)
		if err != nil || res.Failure != nil {
			t.Fatalf("%v, %+v", err, res.Failure)
		}
		if got := strings.Fields(string(res.Stdout)); len(got) != 2 || got[0] != "0" || got[1] != "2147483647" {
			t.Errorf("inside the groups are %q, expected 0 to 2147483647", got)
		}
	})
}
