package run

import (
	"errors"
	"os"
	"strings"
	"testing"

	"plimsoll/internal/measure/build/executed"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// A build ran where the kernel executed it and its process became nothing else than
// its own helpers and the payload.
func TestProverJudges(t *testing.T) {
	b := record.Build{Program: "runc", Level: "new", Path: "/b/runc", SHA256: "aa"}
	loader := executed.File{Inode: 7}
	p := &prover{watch: &executed.Watch{}, probe: "pp", loaders: map[string]executed.File{"aa": loader}}
	x := func(pid int, path, sum string) executed.Execution {
		return executed.Execution{PID: pid, Path: path, SHA256: sum, File: executed.File{Inode: uint64(len(path))}}
	}
	ld := executed.Execution{PID: 1, Path: "/lib/ld.so", File: loader}
	for _, c := range []struct {
		name string
		all  []executed.Execution
		want string
	}{
		{"itself", []executed.Execution{x(1, "/b/runc", "aa"), ld}, ""},
		{"itself again, from a copy", []executed.Execution{x(1, "/b/runc", "aa"), ld, x(1, "/", "aa"), ld}, ""},
		{"others beside it", []executed.Execution{x(9, "/bin/gcc", ""), x(1, "/b/runc", "aa"), ld, x(2, "/bin/hook", ""), x(3, "/usr/bin/runc", "cc")}, ""},
		{"the payload", []executed.Execution{x(1, "/b/runc", "aa"), ld, x(1, "/probe", "pp"), x(1, "/bin/anything", "")}, ""},
		{"an init that it becomes, below which the payload is", []executed.Execution{x(1, "/b/runc", "aa"), x(1, "/sbin/an-init", "ii"), x(2, "/probe", "pp")}, ""},
		{"a helper of its own", []executed.Execution{x(1, "/b/runc", "aa"), x(1, "/b/starter", ""), x(1, "/bin/sh", "")}, ""},
		{"nothing", nil, "runc:new, /b/runc, was not executed"},
		{"the one on the PATH", []executed.Execution{x(1, "/usr/bin/runc", "cc")}, "was not executed, and /usr/bin/runc was"},
		{"a wrapper", []executed.Execution{x(1, "/b/runc", "aa"), ld, x(1, "/usr/bin/runc", "cc")}, "it executed /usr/bin/runc in its place"},
		{"a wrapper, the second time", []executed.Execution{x(1, "/b/runc", "aa"), x(2, "/b/runc", "aa"), x(2, "/usr/bin/crun", "")}, "it executed /usr/bin/crun in its place"},
	} {
		err := p.held([]record.Build{b}, map[string][]string{"runc": {"starter", "an-init"}}, c.all, true)
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, not %q", c.name, err, c.want)
		}
	}
	if err := p.held([]record.Build{b}, nil, nil, false); err != nil {
		t.Errorf("a pull starts no container: %v", err)
	}
}

// residents is an environment with a program that stays.
type residents struct {
	engine.Environment
	pid int
	why error
}

func (r residents) Residents() (map[string]int, error) {
	return map[string]int{"dockerd": r.pid}, r.why
}

// What is not known of a program that stays is said with its reason.
func TestProverAsksResidents(t *testing.T) {
	var p prover
	self, err := p.running.Of(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	programs := []engine.Program{{Name: "dockerd", Stays: true}, {Name: "crun"}}
	for _, c := range []struct {
		name string
		env  engine.Environment
		sum  string
		want string
	}{
		{"itself", residents{pid: os.Getpid()}, self, ""},
		{"another", residents{pid: os.Getpid()}, "bb", "is another program"},
		{"nobody there", residents{why: errors.New("nobody listens at /run/x.sock")}, self, "which dockerd runs is not known: nobody listens at /run/x.sock"},
		{"nobody known", residents{}, self, "its process is not known"},
		{"one of another program is unknown", residents{pid: os.Getpid(), why: errors.New("who the other is")}, self, ""},
	} {
		others, err := p.staying([]record.Build{{Program: "dockerd", Level: "o", SHA256: c.sum}, {Program: "crun", Level: "o"}}, programs, c.env)
		switch {
		case c.want != "":
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, not %q", c.name, err, c.want)
			}
		case err != nil || len(others) != 1 || others[0].Program != "crun":
			t.Errorf("%s: %v, %v", c.name, others, err)
		}
	}
}
