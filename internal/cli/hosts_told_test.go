package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze/factors"
	"plimsoll/internal/understand/analyze/hosts"
)

// What is a host: one rule, for every command that reads several.
func TestHostsTold(t *testing.T) {
	type m = record.Host
	cases := []struct {
		what     string
		machines []m
		ledger   bool // plimsoll run --on has begun them
		by       hosts.By
		want     int
		// together: under names of their own, and of one machine.
		together bool
	}{
		{"three machines", []m{{Name: "a", Machine: "1", Boot: "x"}, {Name: "b", Machine: "2", Boot: "y"}, {Name: "c", Machine: "3", Boot: "z"}}, false, hosts.ByMachine, 3, false},
		{"three machines, begun together", []m{{Name: "a", Machine: "1", Boot: "x"}, {Name: "b", Machine: "2", Boot: "y"}, {Name: "c", Machine: "3", Boot: "z"}}, true, hosts.ByMachine, 3, false},
		{"containers of a machine", []m{{Name: "a", Boot: "x"}, {Name: "b", Boot: "x"}}, false, hosts.ByMachine, 1, false},
		{"containers of a machine, begun together", []m{{Name: "a", Boot: "x"}, {Name: "b", Boot: "x"}}, true, hosts.ByName, 2, true},
		{"two machines, of which one has two containers, begun together", []m{{Name: "a", Boot: "x"}, {Name: "b", Boot: "x"}, {Name: "c", Boot: "y"}}, true, hosts.ByMachine, 2, false},
		{"one machine under one name, begun together", []m{{Name: "a", Boot: "x"}, {Name: "a", Boot: "x"}}, true, hosts.ByName, 1, false},
		{"one image on two machines", []m{{Name: "a", Machine: "1", Boot: "x"}, {Name: "b", Machine: "1", Boot: "y"}}, false, hosts.ByMachine, 2, false},
		{"without digests, two names", []m{{Name: "a", CPU: "c"}, {Name: "b", CPU: "c"}}, false, hosts.ByMachine, 2, false},
		{"without digests, one name", []m{{Name: "a", CPU: "c"}, {Name: "a", CPU: "c"}}, false, hosts.ByMachine, 1, false},
		{"without digests, one name and two processors", []m{{Name: "a", CPU: "c"}, {Name: "a", CPU: "d"}}, false, hosts.ByMachine, 2, false},
		{"without digests, one name and two processors, begun together", []m{{Name: "a", CPU: "c"}, {Name: "a", CPU: "d"}}, true, hosts.ByMachine, 2, false},
		{"one of an earlier version", []m{{Name: "a", Machine: "1", Boot: "x", CPU: "c"}, {Name: "a", CPU: "c"}, {Name: "b", Machine: "2", Boot: "y", CPU: "c"}}, false, hosts.ByMachine, 2, false},
		{"nothing is known", []m{{}, {}}, false, hosts.ByMachine, 1, false},
	}
	for _, c := range cases {
		write := func(session string) (folder string, dirs []string) {
			specs := recordtest.Fleet(len(c.machines), 4)
			for i := range specs {
				specs[i].Host, specs[i].ID, specs[i].Seed = c.machines[i], specs[i].ID+session, specs[i].Seed+uint64(len(session))
			}
			folder, dirs = recordtest.WriteAll(t, specs)
			if c.ledger {
				require.NoError(t, os.WriteFile(filepath.Join(folder, record.HostsFile), []byte("{}"), 0o600))
			}
			return folder, dirs
		}
		folder, dirs := write("")
		if by, n := hosts.Told(c.machines, dirs); by != c.by || n != c.want {
			t.Errorf("%s: %d hosts by %s, want %d by %s", c.what, n, by, c.want, c.by)
		}
		if n := countHosts(dirs); n != c.want {
			t.Errorf("%s: a message counts %d hosts, want %d", c.what, n, c.want)
		}
		status, out, errs := drive("report", folder, "--format", "json")
		if c.want < 2 {
			if status != int(Failed) || !strings.Contains(errs, "it holds 2 runs") {
				t.Errorf("%s: report has status %d, %s", c.what, status, errs)
			}
			continue
		}
		var h hosts.Hosts
		if err := json.Unmarshal([]byte(out), &h); err != nil || len(h.Hosts) != c.want {
			t.Errorf("%s: report: %v, %d hosts, want %d: %s", c.what, err, len(h.Hosts), c.want, errs)
		}
		if said := strings.Contains(out, `"hosts-together"`); said != c.together {
			t.Errorf("%s: report says that they are one machine: %v", c.what, said)
		}
		var f struct{ Factors []*factors.OverHosts }
		_, out, errs = drive("factors", folder, "--format", "json")
		if err := json.Unmarshal([]byte(out), &f); err != nil || len(f.Factors) != 1 || len(f.Factors[0].Hosts) != c.want {
			t.Errorf("%s: factors: %v, %s, want %d hosts: %s", c.what, err, out, c.want, errs)
		}
		if c.want < len(c.machines) {
			continue // compare takes one run of a host on either side
		}
		later, _ := write("-later")
		var changes hosts.Changes
		_, out, errs = drive("compare", folder, later, "--format", "json")
		if err := json.Unmarshal([]byte(out), &changes); err != nil || len(changes.Hosts) != c.want {
			t.Errorf("%s: compare: %v, %d hosts, want %d: %s", c.what, err, len(changes.Hosts), c.want, errs)
		}
	}
}
