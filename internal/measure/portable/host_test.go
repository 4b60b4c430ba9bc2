package portable

import (
	"sync/atomic"
	"testing"

	"plimsoll/internal/record"
)

// A record's host is the engine's machine: two of them are two, whichever machine this is,
// and one that is reached in two ways is one.
func TestHostFrom(t *testing.T) {
	near := machineTold{name: "near", os: "Debian", cpus: 2, id: "a", boot: "11"}
	far := machineTold{name: "far", os: "Alpine", cpus: 8, id: "b", boot: "22"}
	unnamed := machineTold{boot: "22"} // as of a CRI
	a, b := hostFrom("laptop", []machineTold{near}), hostFrom("laptop", []machineTold{far})
	if a.Name != "near" || a.OS != "Debian" || a.CPUs != 2 || b.Name != "far" || b.CPUs != 8 || a.Boot == b.Boot || a.Machine == b.Machine {
		t.Errorf("two machines are the hosts %+v and %+v", a, b)
	}
	if a.Boot != record.Identity("11", record.OfBoot) || a.Machine == "" || a.Kernel != "" || a.More[clientName] != "laptop" {
		t.Errorf("the host is %+v", a)
	}
	// By Docker and by Podman, which has no identifier: the boot tells.
	if both := hostFrom("board", []machineTold{near, {name: "near", os: "Debian", cpus: 2, boot: "11"}}); both.Name != "near" || both.Boot != a.Boot || both.Machine != a.Machine {
		t.Errorf("one machine that is reached in two ways is %+v, not %+v", both, a)
	}
	if c := hostFrom("laptop", []machineTold{unnamed}); c.Name != "laptop" || c.Boot != b.Boot || c.Machine != "" {
		t.Errorf("a machine that tells no name is %+v", c)
	}
	if two := hostFrom("laptop", []machineTold{near, far}); two.Name != "near and far" || two.Boot != "" || two.Machine != "" || two.CPUs != 0 {
		t.Errorf("two machines of one run are %+v", two)
	}
	if none := hostFrom("laptop", nil); none.Name != "laptop" || none.Boot != "" {
		t.Errorf("a run without an engine is of %+v", none)
	}
}

// A container on a kernel of its own does not tell which machine its engine is on.
func TestBootOf(t *testing.T) {
	report := map[string]string{"uname.release": "6.1", "boot_id": "11"}
	for kernel, want := range map[string]string{"6.1": "11", "": "11", "4.4.0": ""} {
		if got := bootOf(map[string]string{"daemon-kernel": kernel}, report); got != want {
			t.Errorf("the engine's kernel is %q: the boot is %q, want %q", kernel, got, want)
		}
	}
}

// A run goes on from the machine that it was measured from; a record of an earlier version
// has that as its host.
func TestClients(t *testing.T) {
	now := hostFrom("laptop", []machineTold{{name: "far"}})
	for _, c := range []struct {
		name   string
		was    record.Host
		unlike int
	}{
		{"the same", hostFrom("laptop", []machineTold{{name: "far"}}), 0},
		{"another one", hostFrom("desktop", []machineTold{{name: "far"}}), 1},
		{"the same, of an earlier version", record.Host{Name: "laptop"}, 0},
		{"another one, of an earlier version", record.Host{Name: "desktop"}, 1},
		{"no name", record.Host{}, 0},
	} {
		if got := clients(c.was, now); len(got) != c.unlike {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// Who asks for the end is told what is waited for.
func TestTellFinish(t *testing.T) {
	for trying, want := range map[bool]string{
		false: "no trial has begun: ending when the environments are open; once more ends it at once",
		true:  "ending after the trial in flight; once more ends it at once",
	} {
		asked, said := make(chan struct{}), ""
		close(asked)
		r := &run{trying: &atomic.Bool{}, Options: Options{Finish: asked, Say: func(s string) { said += s }}}
		r.trying.Store(trying)
		r.tellFinish(nil)
		if said != want {
			t.Errorf("a trial has begun: %t; it says %q", trying, said)
		}
	}
	measured := make(chan struct{})
	close(measured)
	r := &run{Options: Options{Say: func(s string) { t.Errorf("all is measured, and it says %q", s) }}}
	r.tellFinish(measured)
}
