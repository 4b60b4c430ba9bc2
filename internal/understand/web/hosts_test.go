package web

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze/hosts"
)

// livingHost is a host of a fleet whose run goes on.
func livingHost(t testing.TB, folder string, s recordtest.Spec) (*record.Writer, listPlan) {
	t.Helper()
	run := s.Run()
	run.Status = running
	w, err := record.Create(filepath.Join(folder, s.Host.Name), run)
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.Close() })
	return w, planOf(s)
}

// The runs of several hosts in a folder are one page, which follows them.
func TestHosts(t *testing.T) {
	folder, alone := t.TempDir(), t.TempDir()
	fleet := recordtest.Fleet(4, 6)
	for _, s := range fleet[:2] {
		put(t, s, folder, s.Host.Name)
	}
	put(t, fleet[0], alone, "one")
	put(t, small(1), folder, "another study")
	w, plan := livingHost(t, folder, fleet[2])
	x := open(t, Options{Dirs: []string{folder, alone}, Plan: plans(plan), Used: func() time.Duration { return 0 }})
	x.shelf.rest = 0
	i := x.index(t)
	if len(i.Hosts) != 1 || i.Hosts[0].Hosts != 3 || i.Hosts[0].Study != "fleet" || i.Hosts[0].Folder != i.Folders[0].ID || len(i.Hosts[0].Runs) != 3 {
		t.Fatalf("it finds %+v", i.Hosts)
	}
	at := i.Hosts[0].Page
	for _, r := range i.Runs { // a run of theirs leads to it
		_, _, body := x.get(t, "/runs/"+r.ID)
		if leads := strings.Contains(body, "/assets/fleet.js"); leads != slices.Contains(i.Hosts[0].Runs, r.ID) {
			t.Errorf("the page of %s leads to its hosts: %v", r.Name, leads)
		}
	}
	look := func(want ...string) {
		t.Helper()
		status, _, body := x.get(t, at)
		for _, text := range want {
			no, not := strings.CutPrefix(text, "!")
			if strings.Contains(body, no) == not || status != http.StatusOK {
				t.Errorf("%d, %q is there: %v", status, no, not)
			}
		}
	}
	look("fleet on 2 hosts", "node3 is left out", "/assets/hosts.js", "!<style", "!Content-Security-Policy")
	for _, trial := range plan {
		require.NoError(t, w.Append(trial))
	}
	look("fleet on 3 hosts", "Which factor depends on the host", "the run on node3 is not finished", "!node3 is left out")
	var h hosts.Hosts
	x.json(t, strings.Replace(at, "/hosts", "/api/hosts", 1), &h)
	if len(h.Hosts) != 3 || len(h.Tables) == 0 {
		t.Errorf("%+v", h)
	}
	put(t, fleet[3], folder, "node4")
	if n := x.index(t).Hosts[0].Hosts; n != 4 {
		t.Errorf("a host that came later is not there: %d", n)
	}
	look("fleet on 4 hosts")
	for path, want := range map[string]int{"/hosts": 404, "/hosts?dir=" + i.Folders[1].ID + "&study=fleet": 404, "/api/hosts?dir=x": 404} {
		if status, _, _ := x.get(t, path); status != want {
			t.Errorf("GET %s: %d, not %d", path, status, want)
		}
	}
}

// Containers of one machine are one host, unless one command began them as several.
func TestHostsByName(t *testing.T) {
	folder := t.TempDir()
	for _, s := range recordtest.Fleet(3, 4) {
		s.Host.Boot, s.Host.Machine = "same", "same"
		put(t, s, folder, s.Host.Name)
	}
	x := open(t, Options{Dirs: []string{folder}})
	if all := x.index(t).Hosts; len(all) != 0 {
		t.Errorf("%+v", all)
	}
	require.NoError(t, os.WriteFile(filepath.Join(folder, record.HostsFile), []byte("{}"), 0o600))
	all := x.index(t).Hosts
	if len(all) != 1 || all[0].Hosts != 3 {
		t.Fatalf("%+v", all)
	}
	if status, _, body := x.get(t, all[0].Page); status != http.StatusOK || !strings.Contains(body, "fleet on 3 hosts") {
		t.Errorf("%d %.300s", status, body)
	}
}
