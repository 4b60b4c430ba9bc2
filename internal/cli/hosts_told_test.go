package cli

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze/factors"
	"plimsoll/internal/understand/analyze/hosts"
	"plimsoll/internal/understand/web"
)

// What is a host: one rule, for every command that reads several and for the served page.
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
	var folders []string
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
		folders = append(folders, folder)
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
	served := servedHosts(t, folders)
	for i, c := range cases {
		if want := c.want; served[folders[i]] != want && (want > 1 || served[folders[i]] != 0) {
			t.Errorf("%s: the served page has %d hosts, want %d", c.what, served[folders[i]], want)
		}
	}
}

// servedHosts asks plimsoll serve of how many hosts the runs in each folder are; of one
// it says nothing.
func servedHosts(t *testing.T, folders []string) map[string]int {
	t.Helper()
	s, err := web.New(web.Options{Dirs: folders})
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended, ready := make(chan error, 1), make(chan string, 1)
	go func() { ended <- s.Serve(ctx, l, "127.0.0.1", func(a string) { ready <- a }) }()
	client := &http.Client{Transport: &http.Transport{}}
	defer func() {
		client.CloseIdleConnections()
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("serving ended with %v", err)
		}
	}()
	var at string
	select {
	case at = <-ready:
	case err := <-ended:
		ended <- err // for the end
		t.Fatalf("serving ended with %v before it began", err)
	}
	answer, err := client.Get(strings.TrimSuffix(at, "/") + "/api/runs")
	require.NoError(t, err)
	defer answer.Body.Close()
	var index web.Index
	require.NoError(t, json.NewDecoder(answer.Body).Decode(&index))
	names, out := map[string]string{}, map[string]int{}
	for _, f := range index.Folders {
		names[f.ID] = f.Name
	}
	for _, f := range index.Hosts {
		out[names[f.Folder]] = f.Hosts
	}
	return out
}
