package adapter

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// refuses fails its starts, each as it is said: "" is one that the payload answers.
type refuses struct {
	engine.Environment
	classes []record.Class
	starts  int
	before  func(start int)
}

func (r *refuses) Run(_ context.Context, task engine.Task) (engine.Result, error) {
	class := r.classes[min(r.starts, len(r.classes)-1)]
	r.starts++
	if r.before != nil {
		r.before(r.starts)
	}
	if class == "" {
		return engine.Result{Stdout: []byte(answer(task.Argv))}, nil
	}
	return engine.Result{Failure: &record.Failure{Class: class, Text: "start " + strconv.Itoa(r.starts)}}, nil
}

// answer is what the payload of this command line prints.
func answer(argv []string) string { return "plimsoll 1 " + argv[2] + " first 5\n" }

// TestProveAgain: an environment is not given up for a few starts that the engine refused,
// or whose answer was lost; what takes its time to fail, or can't be had, is not waited for
// twice.
func TestProveAgain(t *testing.T) {
	const refused, lost = record.EngineError, record.NoProof
	for _, c := range []struct {
		classes []record.Class
		starts  int
		fails   record.Class
	}{
		{[]record.Class{""}, 1, ""},
		{[]record.Class{refused, lost, ""}, 3, ""},
		{[]record.Class{refused}, proofs, refused},
		{[]record.Class{lost}, proofs, lost},
		{[]record.Class{record.TimeOut, ""}, 1, record.TimeOut},
		{[]record.Class{record.Unsupported, ""}, 1, record.Unsupported},
		{[]record.Class{lost, record.TimeOut, ""}, 2, record.TimeOut},
	} {
		env := &refuses{classes: c.classes}
		_, err := Prove(t.Context(), &engine.Kit{RunID: "abcdefgh"}, env, "x")
		var fails record.Class
		if e, ok := errors.AsType[*engine.Error](err); ok {
			fails = e.Class
		}
		if fails != c.fails || env.starts != c.starts {
			t.Errorf("%q: %d starts, not %d; %v", c.classes, env.starts, c.starts, err)
		}
	}
}

// TestProveUntilTheTimeIsUp: that the time was up at the second container is not what was
// wrong with the first.
func TestProveUntilTheTimeIsUp(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	env := &refuses{classes: []record.Class{record.EngineError, record.HarnessError}, before: func(start int) {
		if start == 2 {
			end()
		}
	}}
	_, err := Prove(ctx, &engine.Kit{RunID: "abcdefgh"}, env, "x")
	if err == nil || !strings.Contains(err.Error(), "start 1") || env.starts != 2 {
		t.Errorf("%d starts: %v", env.starts, err)
	}
}

// Environments whose long ids differ in their middle alone have names of their own.
func TestNamesDiffer(t *testing.T) {
	ids := []string{
		"lxc/directory/execute/network-none/seccomp-off/without-capabilities",
		"lxc/directory/execute/network-host/seccomp-off/without-capabilities",
		"lxc/directory/execute/network-none/seccomp-off/without-capabilities@a",
		"lxc/directory/execute",
		"lxc/directory/execute/xxxxxx/tuned-rcu-expedited",
		"LXC/directory:" + strings.Repeat("y", 99),
		"LXC/directory:" + strings.Repeat("y", 100),
	}
	seen := map[string]string{}
	for _, id := range ids {
		name := Name("abcdefgh", id)
		if other, ok := seen[name]; ok {
			t.Errorf("%s and %s are both %s", other, id, name)
		}
		seen[name] = id
		if len(name) > 60 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || strings.Contains(name, "--") || !strings.HasPrefix(name, "plimsoll-abcdefgh-lxc-directory") {
			t.Errorf("%s is called %s", id, name)
		}
		if name != Name("abcdefgh", id) {
			t.Errorf("the name of %s is not always the same", id)
		}
	}
}
