package record

import (
	"strings"
	"testing"
)

func TestInMemory(t *testing.T) {
	run := &Run{ID: "x"}
	r := InMemory(run, []Trial{{Seq: 0, Env: "a"}, {Seq: 2, Env: "b"}})
	n := 0
	for tr, err := range r.Trials() {
		if err != nil || tr.Env == "" {
			t.Fatal(tr, err)
		}
		n++
	}
	inside, err := r.Insides()
	if n != 2 || r.Run() != run || inside != nil || err != nil {
		t.Errorf("%d trials, %v, %v", n, inside, err)
	}
	for _, open := range []func(string) error{
		func(name string) error { _, err := r.Output(name); return err },
		func(name string) error { _, err := r.Samples(name); return err },
	} {
		if err := open("x"); err == nil || !strings.Contains(err.Error(), "in memory") {
			t.Errorf("a file of a run in memory: %v", err)
		}
	}
	for _, bad := range [][]Trial{{{Seq: 1}, {Seq: 1}}, {{Seq: -1}}} {
		last := error(nil)
		for _, err := range InMemory(run, bad).Trials() {
			last = err
		}
		if last == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}
