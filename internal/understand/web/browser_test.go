//go:build linux && !unit

// make unit would link what speaks to a browser only to skip this.

package web

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/understand/page/browsertest"
)

// TestBrowser opens the served pages as a reader does: nothing is complained
// about, what is to be drawn is drawn, and axe-core finds nothing.
func TestBrowser(t *testing.T) {
	b := browsertest.Begin(t)
	folder := t.TempDir()
	put(t, small(4), folder, "r0")
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
			{"index", "/", `document.querySelectorAll("tbody tr").length === 3 && document.querySelector("progress")`},
			{"run", "/runs/" + id("r0"), `document.body.dataset.shown && document.querySelector("#main [data-chart]")`},
			{"live", "/runs/" + live, `document.querySelector("#live [data-drawn]") && document.querySelector("#live tbody tr") && document.body.dataset.shown`},
			{"hostile", "/runs/" + id(bad), `document.querySelector("#live tbody tr") && document.body.dataset.shown`},
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
