//go:build linux

package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"plimsoll/internal/record"
)

// Meet asks a counter what it has and how far its clock is, for a run's record.
// One that counts nothing is an error, since whoever named it expects numbers.
func Meet(ctx context.Context, host string, c Counter) (record.Agent, []SourceState, error) {
	a, err := c.About(ctx)
	if err != nil {
		return record.Agent{}, nil, err
	}
	out := record.Agent{Name: a.Name, Host: host, Version: a.Version}
	if err := CheckName(a.Name); err != nil {
		return out, nil, err
	}
	for _, s := range a.Sources {
		if s.Absent == "" {
			out.Sources = append(out.Sources, record.AgentSource{Name: s.Name, Unverified: !s.Verified})
		}
	}
	if len(out.Sources) == 0 {
		return out, a.Sources, &NothingError{States: a.Sources}
	}
	clock, err := c.Compare(ctx)
	if err != nil {
		return out, a.Sources, fmt.Errorf("comparing the clocks: %w", err)
	}
	out.Clocks = append(out.Clocks, clock)
	return out, a.Sources, nil
}

// NothingError is an agent that has no counters.
type NothingError struct{ States []SourceState }

func (e *NothingError) Error() string {
	var why []string
	for _, s := range e.States {
		why = append(why, s.Name+": "+s.Absent)
	}
	return "it has no counters (" + strings.Join(why, "; ") + ")"
}

// CheckName says whether an agent may be called so: its name becomes a part of
// metrics' ids and of files' names.
func CheckName(name string) error {
	if name == "" || len(name) > 40 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return fmt.Errorf("an agent can't be called %q: a name has up to 40 of a-z, 0-9 and '-'", name)
	}
	if name == "storage" {
		return errors.New(`an agent can't be called "storage": that stands before the sums over all agents`)
	}
	return nil
}

// NameOf makes a name of a host's.
func NameOf(host string) string {
	short, _, _ := strings.Cut(strings.ToLower(host), ".")
	name := strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, short), "-")
	return name[:min(len(name), 40)]
}
