package audit

import "testing"

// What an environment lacks of a docker run's isolation, as its payload saw it.
func TestLacks(t *testing.T) {
	own := func(change map[string]string) map[string]string {
		m := map[string]string{"ns.mnt": "own", "ns.pid": "own", "ns.net": "own", "ns.ipc": "own", "ns.uts": "own", "ns.user": "host",
			"seccomp-mode": "2", "capabilities": "00000000a80425fb"}
		for k, v := range change {
			m[k] = v
		}
		return m
	}
	for _, c := range []struct {
		name  string
		env   Environment
		want  string
		known bool
	}{
		{"docker", Environment{Isolation: own(nil)}, "", true},
		{"ch-run", Environment{Isolation: own(map[string]string{"ns.pid": "host", "ns.net": "host", "ns.ipc": "host", "ns.uts": "host", "seccomp-mode": "0"})}, "pid net ipc uts seccomp", true},
		{"privileged", Environment{Isolation: own(map[string]string{"seccomp-mode": "0", "capabilities": "000001ffffffffff"})}, "seccomp caps", true},
		{"all capabilities of a user namespace", Environment{Isolation: own(map[string]string{"ns.user": "own", "capabilities": "000001ffffffffff"})}, "", true},
		{"a guest", Environment{Guest: true, Isolation: own(map[string]string{"seccomp-mode": "0"})}, "", true},
		{"AppArmor", Environment{Isolation: own(map[string]string{accessControl: confinement("docker-default (enforce)")})}, "", true},
		{"no profile", Environment{Isolation: own(map[string]string{accessControl: confinement("unconfined")})}, "mac", true},
		{"a profile that allows all", Environment{Isolation: own(map[string]string{accessControl: confinement("runc (unconfined)")})}, "mac", true},
		{"SELinux", Environment{Isolation: own(map[string]string{accessControl: confinement("system_u:system_r:container_t:s0:c12,c345")})}, "", true},
		{"no type", Environment{Isolation: own(map[string]string{accessControl: confinement("unconfined_u:unconfined_r:unconfined_t:s0-s0:c0.c1023")})}, "mac", true},
		{"unseen", Environment{}, "", false},
		{"baseline", Environment{baseline: true, Isolation: own(map[string]string{"ns.pid": "host"})}, "", false},
	} {
		got, known := c.env.Lacks()
		if Listed(got) != c.want || known != c.known {
			t.Errorf("%s: %q, %t, not %q, %t", c.name, Listed(got), known, c.want, c.known)
		}
	}
	if _, known := (*Environment)(nil).Lacks(); known {
		t.Error("something is known of no environment")
	}
}
