//go:build linux && !unit

// make unit would link what speaks to a browser only to skip this.

package web

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/page/browsertest"
)

// TestBrowser opens the served pages as a reader does: nothing is complained
// about, what is to be drawn is drawn, and axe-core finds nothing.
func TestBrowser(t *testing.T) {
	b := browsertest.Begin(t)
	folder := t.TempDir()
	for i := range 9 {
		s := small(uint64(i + 4))
		if i >= 5 {
			s.Envs = slices.Clone(s.Envs)
			s.Envs[3].StartUp = s.Envs[3].StartUp * 3 / 2
		}
		put(t, s, folder, fmt.Sprintf("r%d", i))
	}
	bad := hostile(t, folder)
	w, run, plan := living(t, folder)
	waiting := 0.25
	x := open(t, Options{Dirs: []string{folder}, Plan: plans(plan), Load: func() (Load, bool) {
		return Load{Busy: 0.5, Steal: 0.01, Running: 2, Waiting: &waiting}, true
	}})
	x.least, x.shelf.rest = 20*time.Millisecond, 50*time.Millisecond
	for _, trial := range plan[:70] {
		require.NoError(t, w.Append(trial))
	}
	id := func(name string) string { return x.run(t, name).ID }
	live := id("live")
	t.Run("drawn", func(t *testing.T) {
		for _, c := range []struct{ name, path, ready string }{
			{"index", "/", `document.querySelectorAll("tbody tr").length === 11 && document.querySelector("progress")`},
			{"run", "/runs/" + id("r0"), `document.body.dataset.shown && document.querySelector("#main [data-chart]")`},
			{"live", "/runs/" + live, `document.querySelector("#live [data-drawn]") && document.querySelector("#live tbody tr") && document.body.dataset.shown`},
			{"hostile", "/runs/" + id(bad), `document.querySelector("#live tbody tr") && document.body.dataset.shown`},
			{"compare", "/compare?base=" + id("r0") + "&new=" + id("r8"), `document.querySelector("[data-drawn]") && document.querySelector("td.worse")`},
			{"history", "/history", `document.querySelector("[data-drawn]") && document.querySelector("td.worse")`},
		} {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				p, err := b.Open(x.address+c.path, browsertest.Options{})
				require.NoError(t, err)
				defer p.Close()
				if err := p.Wait(c.ready); err != nil {
					text, _ := browsertest.Eval[string](p, "document.body.innerText.slice(0, 2000)")
					problems, _ := p.Problems()
					t.Fatalf("%v\n%s\n%q", err, text, problems)
				}
				if c.name == "history" {
					// Under the mouse a chart tells its numbers.
					if err := errors.Join(p.Click("#chart-history-0-0 .canvas"), p.Wait(`document.querySelector(".tip dd")`)); err != nil {
						t.Error(err)
					}
				}
				checkPage(t, p)
				if odd, err := browsertest.Eval[string](p, `[...document.body.innerText].filter(c => c === "\u202e" || c === "\u001b").join("")`); err != nil || odd != "" {
					t.Errorf("the page shows characters that change others: %q, %v", odd, err)
				}
				keep(t, p, c.name)
			})
		}
	})
	t.Run("follows", func(t *testing.T) {
		p, err := b.Open(x.address+"/runs/"+live, browsertest.Phone)
		require.NoError(t, err)
		defer p.Close()
		wait := func(what string) {
			t.Helper()
			if err := p.Wait(what); err != nil {
				text, _ := browsertest.Eval[string](p, "document.querySelector('#live').innerText")
				t.Fatalf("%v\n%s", err, text)
			}
		}
		wait(fmt.Sprintf(`document.querySelector("#live dd")?.textContent === "70 of %d"`, len(plan)))
		for _, trial := range plan[70:] {
			require.NoError(t, w.Append(trial))
		}
		wait(fmt.Sprintf(`document.querySelector("#live dd")?.textContent === "%d of %d"`, len(plan), len(plan)))
		run.Status, run.Finished = done, run.Started.Add(time.Hour)
		require.NoError(t, w.Update(run))
		wait(`document.querySelector("#live [role=status]").textContent === "The run is done."`)
		// A new run.json makes no trial expected twice.
		wait(fmt.Sprintf(`document.querySelector("#live dd")?.textContent === "%d of %d"`, len(plan), len(plan)))
		wait(`plimsoll.data.run.status === "done"`) // the charts below have followed
		checkPage(t, p)
		wide, err := p.Wider()
		if err != nil || len(wide) > 0 {
			t.Errorf("the page is wider than a phone: %q, %v", wide, err)
		}
	})
}

// The page of several hosts is one click away, and follows one that goes on.
func TestBrowserHosts(t *testing.T) {
	b := browsertest.Begin(t)
	folder := t.TempDir()
	fleet := recordtest.Fleet(3, 6)
	for _, s := range fleet[:2] {
		put(t, s, folder, s.Host.Name)
	}
	w, plan := livingHost(t, folder, fleet[2])
	x := open(t, Options{Dirs: []string{folder}, Plan: plans(plan), Used: func() time.Duration { return 0 }})
	x.shelf.rest = 0
	p, err := b.Open(x.address+"/", browsertest.Options{})
	require.NoError(t, err)
	defer p.Close()
	wait := func(what string) {
		t.Helper()
		if err := p.Wait(what); err != nil {
			text, _ := browsertest.Eval[string](p, "document.body.innerText.slice(0, 2000)")
			problems, _ := p.Problems()
			t.Fatalf("%v\n%s\n%q", err, text, problems)
		}
	}
	wait(`document.querySelector("a[href^='/hosts?']")`)
	require.NoError(t, p.Click("a[href^='/hosts?']"))
	wait(`document.querySelector("#title")?.textContent === "fleet on 2 hosts" && document.querySelector("#progress progress")`)
	checkPage(t, p)
	keep(t, p, "hosts")
	for _, trial := range plan {
		require.NoError(t, w.Append(trial))
	}
	wait(`document.querySelector("#main").innerText.includes("node3") && document.querySelectorAll("#hosts tbody tr").length >= 3 && !document.querySelector("#main").innerText.includes("node3 is left out")`)
	wait(`document.querySelector("#title").textContent === "fleet on 3 hosts"`)
	checkPage(t, p)
	alone, err := b.Open(x.address+"/runs/"+x.index(t).Hosts[0].Runs[0], browsertest.Options{})
	require.NoError(t, err)
	defer alone.Close()
	p = alone
	wait(`document.querySelector("#fleet a[href^='/hosts?']")?.textContent.endsWith("on 3 hosts together")`)
	checkPage(t, p)
}

func checkPage(t *testing.T, p *browsertest.Page) {
	t.Helper()
	problems, err := p.Problems()
	require.NoError(t, err)
	for _, s := range problems {
		t.Error(s)
	}
	browsertest.Accessible(t, p)
}

// keep keeps a picture for who sets PICTURES to a directory.
func keep(t *testing.T, p *browsertest.Page, name string) {
	t.Helper()
	dir := os.Getenv("PICTURES")
	if dir == "" {
		return
	}
	png, err := p.Picture("body")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644)
	}
	if err != nil {
		t.Error(err)
	}
}
