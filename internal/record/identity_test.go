package record

import "testing"

func TestIdentity(t *testing.T) {
	a := Identity("0123456789abcdef0123456789abcdef", OfMachine)
	if len(a) != 32 || a != Identity("0123456789abcdef0123456789abcdef", OfMachine) {
		t.Errorf("%q is no digest that stays the same", a)
	}
	if a == Identity("0123456789abcdef0123456789abcdee", OfMachine) || a == Identity("0123456789abcdef0123456789abcdef", OfBoot) {
		t.Error("another machine, or its boot, has the same digest")
	}
	if Identity("", OfMachine) != "" || Identity("uninitialized", OfMachine) != "" {
		t.Error("no name has a digest")
	}
}
