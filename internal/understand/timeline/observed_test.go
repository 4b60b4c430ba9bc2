package timeline

import "testing"

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
	if len(o.Steps) != 4 || o.Steps[0].Name != "daemon: iptables" || o.Steps[0].A != 30 || o.Steps[1].Name != "daemon: fsync" {
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
