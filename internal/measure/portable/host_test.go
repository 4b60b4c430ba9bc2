package portable

import (
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"plimsoll/internal/record"
)

// A record's host is the engine's machine: two of them are two, whichever machine this is,
// and one that is reached in two ways is one.
func TestHostFrom(t *testing.T) {
	near := machineTold{name: "near", os: "Debian", cpus: 2, id: "a", boot: "11"}
	far := machineTold{name: "far", os: "Alpine", cpus: 8, id: "b", boot: "22"}
	unnamed := machineTold{boot: "22"}
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
	if c := hostFrom("laptop", []machineTold{unnamed}); c.Name != "laptop" || c.More[record.MoreNameOf] != record.MoreClient || c.Boot != b.Boot || c.Machine != "" || c.CPUs != 0 || c.OS != "" {
		t.Errorf("a machine that tells no name is %+v", c)
	}
	if none := hostFrom("laptop", nil); none.Name != "laptop" || none.Boot != "" {
		t.Errorf("a run without an engine is of %+v", none)
	}
	if a.More[record.MoreNameOf] != "" {
		t.Errorf("the name that a machine tells is said to be of the %s", a.More[record.MoreNameOf])
	}
}

// A host of several machines has the identifiers of none, in whichever order they come;
// the boot tells that one has two names, or that two have one.
func TestHostFromSeveral(t *testing.T) {
	near := machineTold{name: "near", os: "Debian", cpus: 2, id: "a", boot: "11"}
	far := machineTold{name: "far", os: "Alpine", cpus: 8, id: "b", boot: "22"}
	boot := record.Identity("11", record.OfBoot)
	for _, c := range []struct {
		what    string
		all     []machineTold
		name    string
		boot    string
		machine bool
	}{
		{"two", []machineTold{near, far}, "far and near", "", false},
		{"two, the other way round", []machineTold{far, near}, "far and near", "", false},
		{"one of them without a boot", []machineTold{near, {name: "far"}}, "far and near", "", false},
		{"a named one and an unnamed one elsewhere", []machineTold{near, {boot: "22"}}, "near and another machine", "", false},
		{"a named one and one that tells nothing", []machineTold{near, {}}, "near and another machine", "", false},
		{"two and an unnamed one", []machineTold{near, far, {boot: "33"}}, "far and near and another machine", "", false},
		{"two of one name", []machineTold{near, {name: "near", boot: "33"}}, "near and another machine", "", false},
		{"one with an unnamed one", []machineTold{near, {boot: "11"}}, "near", boot, true},
		{"one with an unnamed one, and a container on its own kernel", []machineTold{near, {boot: "11"}, {}}, "near", boot, true},
		{"one whose second runtime tells no boot", []machineTold{near, {name: "near", id: "a"}}, "near", boot, true},
		{"one, and a daemon in a container on it", []machineTold{near, {name: "abc", id: "c", boot: "11"}}, "abc and near", boot, false},
	} {
		h := hostFrom("laptop", c.all)
		if h.Name != c.name || h.Boot != c.boot || (h.Machine != "") != c.machine || (h.CPUs == 2) != c.machine {
			t.Errorf("%s: %+v", c.what, h)
		}
	}
}

// A run that goes on without one of its two machines stays one of two.
func TestHostOfLost(t *testing.T) {
	near := machineTold{name: "near", boot: "11"}
	r := &run{Options: Options{Run: &record.Run{Environments: []record.Environment{{ID: "docker", Engine: Docker}, {ID: "podman", Engine: Podman}}},
		Look: &Look{found: map[string]*Found{Docker: {}, Podman: {}}}},
		envs: map[string]*environment{"docker": {rec: &record.Environment{Engine: Docker, Facts: map[string]string{machineFact: near.name}}, boot: near.boot}}}
	if h := r.host(); h.Name != "near" || h.Boot == "" {
		t.Errorf("nothing is lost, and the host is %+v", h)
	}
	for _, was := range []record.Host{
		hostFrom("laptop", []machineTold{near, {name: "far", boot: "22"}}),
		hostFrom("laptop", []machineTold{{boot: "22"}}),
	} {
		r.lost, r.was = map[string]string{"podman": "it is down"}, &record.Run{Host: was}
		client, _ := os.Hostname()
		h := r.host()
		if h.Name != was.Name || h.Boot != was.Boot || h.More[record.MoreNameOf] != was.More[record.MoreNameOf] || h.More[clientName] != client {
			t.Errorf("the host was %+v and is %+v", was, h)
		}
		if was.More[clientName] != "laptop" {
			t.Error("the record that was is changed")
		}
	}
}

// Of what a daemon tells of itself neither a short identifier nor an endless name is taken.
func TestToldOfItself(t *testing.T) {
	long := strings.Repeat("0123-", 7)
	if idOf(long, long) != long || idOf(long, long+"x") != "" || idOf("podman", "podman") != "" || idOf("", "") != "" {
		t.Error("an identifier that is short, or another one each time, is taken")
	}
	if nameOf(" \n") != "" {
		t.Error("an empty line is a name")
	}
	for told, want := range map[string]string{"near": "near", "": "", "a\x1b[31m\nb": "a b", strings.Repeat("ä", 200): strings.Repeat("ä", 126)} {
		if got := nameOf(told); got != want {
			t.Errorf("%q is the name %q, want %q", told, got, want)
		}
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
	for range 100 { // of two that are ready, either is taken
		r := &run{trying: &atomic.Bool{}, Options: Options{Finish: measured, Say: func(s string) { t.Errorf("all is measured, and it says %q", s) }}}
		r.tellFinish(measured)
	}
}
