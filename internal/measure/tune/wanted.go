package tune

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Wanted gives the settings that a level of the factor tuned stands for, in the order
// in which they are made; the error says why one can't be had here. What the machine
// is already needs no change and has none. A part NAME=VALUE gives one of Values. The
// empty level and "default" are none.
func (m Machine) Wanted(level string) ([]State, error) {
	if level == "" || level == "default" {
		return nil, nil
	}
	all := m.Look()
	if level == Everything {
		out := slices.DeleteFunc(all, func(s State) bool { return s.Why != "" && !s.Already })
		if len(out) == 0 {
			return nil, errors.New("none of the states that make starts scatter can be set here")
		}
		return out, nil
	}
	names := strings.Split(level, "+")
	var out []State
	for _, n := range names {
		if strings.Contains(n, assign) {
			s, err := m.value(n)
			if err != nil {
				return nil, err
			}
			out = append(out, s)
		}
	}
	for _, s := range all {
		if !slices.Contains(names, s.Name) {
			continue
		}
		if s.Why != "" && !s.Already {
			return nil, fmt.Errorf("%s can't be set here: %s", s.Name, s.Why)
		}
		out = append(out, s)
	}
	if len(out) < len(names) {
		return nil, fmt.Errorf("%q is not a machine state that can be set: choose one of %s", level, strings.Join(Levels(), ", "))
	}
	return out, once(level, out)
}

// once refuses a level that changes one file twice, or gives a value to what its other
// parts set.
func once(level string, all []State) error {
	seen := map[string]string{}
	for _, s := range all {
		name, _, _ := strings.Cut(s.Name, assign)
		if other := seen[name]; other != "" {
			return fmt.Errorf("%q sets %s twice: %s and %s", level, name, other, s.Name)
		}
		seen[name] = s.Name
	}
	return nil
}
