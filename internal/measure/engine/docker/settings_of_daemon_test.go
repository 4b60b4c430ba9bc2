package docker

import (
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/measure/probe"
)

// TestSettingsOfDaemon: of two private daemons one has the packet filter's rules and a
// proxy for a published port, the other neither, and the facts say so.
func TestSettingsOfDaemon(t *testing.T) {
	kit := enginetest.Kit(t)
	e := New()
	d := e.Detect(t.Context(), kit)
	for factor, level := range map[string]string{engine.With: engine.OwnDaemon, engine.Without: engine.PacketFilter} {
		i := slices.IndexFunc(d.Levels[factor], func(l engine.Level) bool { return l.Name == level })
		if i < 0 || !d.Levels[factor][i].Usable {
			t.Skipf("no private daemon can be had here: %s %+v", d.Reason, d.Levels[factor])
		}
	}
	for _, c := range []struct {
		with, without string
		there         bool
	}{
		{engine.OwnDaemon + engine.And + engine.PublishedPort, engine.DefaultLevel, true},
		{engine.PublishedPort, engine.PacketFilter + engine.And + engine.UserlandProxy, false},
	} {
		env, err := e.Open(t.Context(), kit, engine.Spec{ID: "settings", Levels: map[string]string{engine.With: c.with, engine.Without: c.without}})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, env.Close(t.Context())) })
		args := probe.PayloadArgs{Stay: true}
		h, err := env.(engine.Holder).Hold(t.Context(), newTask(&args))
		require.NoError(t, err)
		pids, err := env.(engine.Resident).Residents()
		require.NoError(t, err)
		dockerd := pids["dockerd"]
		if rules := filterOf(t, dockerd); strings.Contains(rules, "DOCKER") != c.there {
			t.Errorf("without %s: the daemon's packet filter is\n%s", c.without, rules)
		}
		if n := proxiesOf(dockerd); (n > 0) != c.there {
			t.Errorf("without %s: %d proxies run", c.without, n)
		}
		f := env.Facts()
		if f["daemon"] != "private" || (f[engine.PacketFilter] == "") != c.there || (f[engine.UserlandProxy] == "") != c.there {
			t.Errorf("facts %v", f)
		}
		res, err := h.End(t.Context(), engine.Stop{Grace: 10 * time.Second})
		require.NoError(t, err)
		if res.Failure != nil {
			t.Errorf("%+v", res.Failure)
		}
	}
}

// TestDurability: of two private daemons one waits for the disk, the other does not, and
// what its containers come to says so.
func TestDurability(t *testing.T) {
	kit := enginetest.Kit(t)
	e := New()
	d := e.Detect(t.Context(), kit)
	i := slices.IndexFunc(d.Levels[engine.Without], func(l engine.Level) bool { return l.Name == engine.Durability })
	if i < 0 || !d.Levels[engine.Without][i].Usable {
		t.Skipf("no private daemon can be had here: %s %+v", d.Reason, d.Levels[engine.Without])
	}
	for _, without := range []string{engine.DefaultLevel, engine.Durability} {
		env, err := e.Open(t.Context(), kit, engine.Spec{ID: "durability", Levels: map[string]string{engine.With: engine.OwnDaemon, engine.Seccomp: "off", engine.Without: without}})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, env.Close(t.Context())) })
		args := probe.PayloadArgs{Report: true}
		task := newTask(&args)
		res, err := env.Run(t.Context(), task)
		require.NoError(t, err)
		p, err := probe.ParsePayload(res.Stdout, args.Word)
		require.NoError(t, err)
		pids, err := env.(engine.Resident).Residents()
		require.NoError(t, err)
		daemon, err := proc.Here.Status(strconv.Itoa(pids["dockerd"]))
		require.NoError(t, err)
		gone := without == engine.Durability
		if (p.Report["fsync"] == "0") != gone || (daemon["Seccomp"] == "2") != gone || (env.Facts()["fsync"] != "") != gone {
			t.Errorf("without %s: fsync came to %s, the daemon's mode is %s, facts %v", without, p.Report["fsync"], daemon["Seccomp"], env.Facts())
		}
	}
}

// filterOf are the rules of the packet filter where a process is.
func filterOf(t *testing.T, pid int) string {
	t.Helper()
	for _, name := range []string{"nsenter", "iptables-save"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip(name + " is not installed")
		}
	}
	out, err := exec.CommandContext(t.Context(), "nsenter", "--target", strconv.Itoa(pid), "--net", "iptables-save").Output()
	require.NoError(t, err)
	return string(out)
}

// proxiesOf counts the proxies that a daemon has started.
func proxiesOf(dockerd int) (n int) {
	for _, pid := range proc.Here.PIDs() {
		if p, err := proc.Here.Stat(pid); err == nil && p.PPID == dockerd && p.Comm == "docker-proxy" {
			n++
		}
	}
	return n
}
