package timeline

import (
	"fmt"
	"testing"

	"plimsoll/internal/record"
)

func TestObserve(t *testing.T) {
	leaf := func(name string, ns int64) *Step { return &Step{Name: name, NS: ns, Cause: true} }
	tree := func(steps ...*Step) *Explanation {
		root := &Step{Steps: steps}
		for _, s := range steps {
			root.NS += s.NS
		}
		return &Explanation{Tree: root}
	}
	program := func(name string, steps ...*Step) *Step {
		p := &Step{Name: name, Steps: steps}
		for _, s := range steps {
			p.NS += s.NS
		}
		return p
	}
	with := tree(program("daemon", leaf("iptables", 30), leaf("fsync", 10), program("runtime", leaf("mount", 5))), leaf("idle", 2))
	without := tree(program("daemon", leaf("fsync", 14), program("runtime", leaf("mount", 3))), leaf("idle", 2))
	o := Observe(Against(with, without))
	if o.With != 47 || o.Without != 19 || o.Gone != 30 || o.Else != -2 || o.Gone+o.Else != o.With-o.Without {
		t.Errorf("%+v", o)
	}
	if len(o.Steps) != 4 || o.Steps[0].Name != "daemon: iptables" || o.Steps[0].With != 30 || o.Steps[1].Name != "daemon: fsync" {
		t.Errorf("%+v", o.Steps)
	}
	// What comes in its place counts against what is gone.
	o = Observe(Against(tree(program("runc", leaf("a", 30)), program("x", leaf("y", 100))), tree(program("crun", leaf("a", 12)), program("x", leaf("y", 90)))))
	if o.Gone != 18 || o.Else != 10 {
		t.Errorf("%+v", o)
	}
	// The same cause of the same program in two places is one.
	o = Observe(Against(tree(program("a", leaf("x", 1)), program("b", program("a", leaf("x", 2)))), tree(program("a", leaf("x", 1)))))
	if o.Gone != 0 || o.Else != 2 || len(o.Steps) != 1 {
		t.Errorf("%+v", o)
	}
}

// TestAnyhow: what a program waits for a processor, or for its own threads, stays, also
// where the way leads there in no start without the mechanism.
func TestAnyhow(t *testing.T) {
	tree := func(steps ...Step) *Explanation {
		d := &Step{Name: "daemon"}
		for _, s := range steps {
			s.Cause = true
			d.Steps, d.NS = append(d.Steps, &s), d.NS+s.NS
		}
		return &Explanation{Tree: &Step{NS: d.NS, Steps: []*Step{d}}}
	}
	const other = "waits for one of its files (epoll), from "
	o := Observe(Against(
		tree(Step{Name: other + "daemon", NS: 9}, Step{Name: other + "shim", NS: 20}, Step{Name: "waits for a processor (fsync)", NS: 4}),
		tree(Step{Name: "waits for Go's scheduler to look after its threads again", NS: 5})))
	if o.Gone != 20 || o.Else != 8 || fmt.Sprint(o.Kinds) != "[{processor 4} {wait 4}]" {
		t.Errorf("%+v", o)
	}
	if len(o.Steps) != 4 || o.Steps[0].Anyhow || !o.Steps[1].Anyhow || o.Steps[1].With != 9 {
		t.Errorf("%+v", o.Steps)
	}
}

// TestProgramGone: of a program that is gone, what it waited for a processor is gone too.
func TestProgramGone(t *testing.T) {
	queued := func(ns int64) *Step { return &Step{Name: "waits for a processor", Cause: true, NS: ns} }
	with := &Explanation{Tree: &Step{NS: 30, Steps: []*Step{{Name: "daemon", NS: 30, Steps: []*Step{
		queued(6), {Name: "iptables", NS: 24, Steps: []*Step{queued(4), {Name: "in sendto", Cause: true, NS: 20}}}}}}}}
	without := &Explanation{Tree: &Step{NS: 5, Steps: []*Step{{Name: "daemon", NS: 5, Steps: []*Step{queued(5)}}}}}
	if o := Observe(Against(with, without)); o.Gone != 24 || o.Else != 1 {
		t.Errorf("%+v", o)
	}
}

// TestKinds: what stays and takes another time is divided by why that may be.
func TestKinds(t *testing.T) {
	tree := func(grace, queued, synced, waited, worked, own int64) *Explanation {
		d := &Step{Name: "daemon"}
		for _, s := range []Step{
			{Name: "interrupted by the kernel's deferred freeing (RCU)", NS: 9}, {Name: "waits for RCU's callbacks", NS: grace}, {Name: "waits for a processor", NS: queued}, {Name: "waits for a processor (fsync)", NS: synced},
			{Name: "waits for one of its files (epoll), from shim", NS: waited}, {Name: "in mount", NS: worked}, {Name: "page faults, as its memory is given to it", NS: own},
		} {
			s.Cause = true
			d.Steps, d.NS = append(d.Steps, &s), d.NS+s.NS
		}
		return &Explanation{Tree: &Step{NS: d.NS, Steps: []*Step{d}}}
	}
	o := Observe(Against(tree(10, 20, 10, 30, 40, 50), tree(17, 19, 10, 25, 2, 50)))
	want := []record.ObservedKind{{Kind: record.GraceStep, NS: -7}, {Kind: record.WaitStep, NS: 5}, {Kind: record.ProcessorStep, NS: 1}}
	if fmt.Sprint(o.Kinds) != fmt.Sprint(want) || o.Gone != 38 || o.Else != -1 {
		t.Errorf("%+v", o)
	}
}

// TestApart: starts are compared with those that stood in the same block.
func TestApart(t *testing.T) {
	with, without := map[int]int64{}, map[int]int64{}
	for block := range 10 {
		drift := int64(block) * 1000 // the machine becomes slower
		with[block], without[block] = 150+drift+int64(block%3), 100+drift
	}
	without[99] = 1
	if r := Apart(with, without); r == nil || r.Lo < 50 || r.Hi > 52 {
		t.Errorf("%+v", r)
	}
	if r := Apart(map[int]int64{1: 5, 2: 6}, without); r != nil {
		t.Errorf("two pairs have the interval %+v", r)
	}
}
