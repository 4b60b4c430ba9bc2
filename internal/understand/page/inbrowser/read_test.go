//go:build linux && !unit

package inbrowser_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/page/browsertest"
	"plimsoll/internal/understand/view"
	"plimsoll/internal/understand/view/viewtest"
)

// unfold opens all that is folded away.
func unfold(t *testing.T, p *browsertest.Page) {
	t.Helper()
	eval[bool](t, p, `document.querySelectorAll("details").forEach(d => d.open = true), true`)
}

// accessible: axe-core finds nothing against WCAG A and AA, in light and dark,
// with all that is folded away unfolded. The large report has more of the same:
// it is looked at once, as it is opened.
func accessible(t *testing.T, b *browsertest.Browser, r report) {
	for _, dark := range []bool{false, true} {
		if r.large() && dark {
			continue
		}
		p := show(t, b, r, browsertest.Options{Dark: dark})
		if !r.large() {
			unfold(t, p)
		}
		t.Run(map[bool]string{false: "light", true: "dark"}[dark], func(t *testing.T) { browsertest.Accessible(t, p) })
	}
}

// layout: nothing is wider than a telephone, and no text lies on another, there
// and on a desk.
func layout(t *testing.T, b *browsertest.Browser, r report) {
	sizes := map[string]browsertest.Options{"telephone": browsertest.Phone, "tablet": {Width: 820, Height: 1100}, "desk": {}, "wide desk": {Width: 1900, Height: 1000}}
	if r.large() {
		sizes = map[string]browsertest.Options{"telephone": browsertest.Phone, "desk": {}}
	}
	for name, o := range sizes {
		p := show(t, b, r, o)
		none(t, name+": wider than the window")(p.Wider())
		none(t, name+": texts on each other")(p.Overlaps())
		if r.large() {
			continue
		}
		unfold(t, p)
		none(t, name+", unfolded: wider than the window")(p.Wider())
		none(t, name+", unfolded: texts on each other")(p.Overlaps())
	}
}

var pdfPage = regexp.MustCompile(`/Type\s*/Page\b[^s]`)

// printed: on paper there are pages, and the charts are on them although nobody
// scrolled to them.
func printed(t *testing.T, b *browsertest.Browser, r report) {
	p := show(t, b, r, browsertest.Options{})
	pdf := must(p.PDF())(t)
	pages := len(pdfPage.FindAll(pdf, -1))
	if !bytes.HasPrefix(pdf, []byte("%PDF-")) || pages < 2 || pages > 100 || len(pdf) > 20<<20 {
		t.Errorf("a PDF of %d pages, %d kB", pages, len(pdf)>>10)
	}
	if left := eval[[]string](t, p, `[...document.querySelectorAll("figure.chart:not([data-drawn])")].map(f => f.dataset.chart)`); len(left) > 0 {
		t.Errorf("not drawn on paper: %q", left)
	}
}

// plain: without scripts the page says what was measured, whether it can be
// trusted, the verdict, the ranking and how to repeat it.
func plain(t *testing.T, b *browsertest.Browser, r report) {
	for name, o := range map[string]browsertest.Options{"desk": {NoScript: true}, "telephone": {Width: 390, Height: 844, Phone: true, NoScript: true}} {
		p := show(t, b, r, o)
		text := eval[string](t, p, `document.body.innerText`)
		for _, v := range r.data.Verdict {
			if len(r.data.Answer.Works) > 0 {
				break // it would be about one of the workloads
			}
			if !strings.Contains(text, v) {
				t.Errorf("the verdict is not to be read: %q", v)
			}
		}
		said(t, r.data, text)
		for _, x := range r.data.Trust {
			if !strings.Contains(text, x.Text) {
				t.Errorf("%s is not to be read: %q", x.Title, x.Text)
			}
		}
		if of := r.data.Ablations; len(of) > 0 && !strings.Contains(text, of[0].Steps[0].Mechanism) {
			t.Errorf("what the engine is made of is not to be read without opening it: %s", of[0].Steps[0].Mechanism)
		}
		// The ranking is folded away where an engine was taken apart.
		table := eval[string](t, p, `(() => { const t = document.querySelector("table.ranking"); t.closest("details").open = true; return t.innerText; })()`)
		for _, e := range first(r.data, 0).Ranking {
			if !strings.Contains(table, r.data.Envs[e].Name) {
				t.Errorf("the table lacks %s", r.data.Envs[e].Name)
			}
		}
		if !strings.Contains(text, r.data.Run.Repeat) {
			t.Errorf("how to repeat it is not to be read: %q", r.data.Run.Repeat)
		}
		none(t, name+": wider than the window")(p.Wider())
		none(t, name+": texts on each other")(p.Overlaps())
		browsertest.Accessible(t, p)
	}
}

// said: the answer and the protocol are to be read, whole.
func said(t *testing.T, d *view.Data, text string) {
	t.Helper()
	if d.Answer == nil || len(d.Answer.Lines) < 3 {
		t.Fatalf("the made-up run has the answer %+v", d.Answer)
	}
	for _, l := range d.Answer.Lines {
		if !strings.Contains(text, l.Text) {
			t.Errorf("%s is not to be read: %q", l.Label, l.Text)
		}
	}
	for _, w := range d.Answer.Works {
		if !strings.Contains(text, w.Best) || !strings.Contains(text, w.Times) {
			t.Errorf("%s by its best and worst is not to be read: %+v", w.Workload, w)
		}
	}
	for _, f := range d.Facts {
		if !strings.Contains(text, f.Value) {
			t.Errorf("%s is not to be read: %q", f.Name, f.Value)
		}
	}
}

// hostile: names, facts and failures that are markup, escape sequences and no
// text at all, and an output of 100 MB, do nothing to the page but stand in it.
func hostile(t *testing.T, b *browsertest.Browser) {
	dir := filepath.Join(t.TempDir(), "run")
	spec := viewtest.Small
	spec.Hostile = true
	try(t, spec.Write(dir))
	swamp(t, dir)
	data := must(view.Build(must(record.Open(dir))(t), view.Options{}))(t)
	r := written(t, "hostile", data)
	if size := must(os.Stat(r.path))(t).Size(); size > 3<<20 {
		t.Errorf("the report has %d bytes", size)
	}
	for _, o := range []browsertest.Options{{}, {NoScript: true}} {
		p := show(t, b, r, o)
		unfold(t, p)
		if n := eval[int](t, p, `document.querySelectorAll('main script, img[src="x"], [onerror], [onload]').length`); n > 0 {
			t.Errorf("%d elements were made of what a container said", n)
		}
		text := eval[string](t, p, `document.documentElement.textContent`)
		if !strings.Contains(text, "<script>alert(1)</script>") {
			t.Error("what the container said is not to be read")
		}
		if bad := regexp.MustCompile("[\x00-\x08\x0b\x0c\x0e-\x1f\u202a-\u202e\u2066-\u2069]").FindString(eval[string](t, p, `document.querySelector("main").innerText`)); bad != "" {
			t.Errorf("the page shows %q", bad)
		}
		if !o.NoScript {
			for _, name := range charts(t, p) {
				bring(t, p, name)
			}
			texts(t, saved(t, p, "ranking", "svg"))
		}
		none(t, "wider than the window")(p.Wider())
	}
}

// swamp gives each failed trial's output 100 MB that begin with markup.
func swamp(t *testing.T, dir string) {
	t.Helper()
	r := must(record.Open(dir))(t)
	n := 0
	for trial, err := range r.Trials() {
		try(t, err)
		if trial.Output == "" || n == 3 {
			continue
		}
		n++
		path := filepath.Join(dir, record.OutputDir, trial.Output)
		try(t, os.MkdirAll(filepath.Dir(path), 0o755))
		try(t, os.WriteFile(path, []byte("<script>alert(2)</script>\x1b[2J\xff\xfe"), 0o644))
		try(t, os.Truncate(path, 100<<20)) // a hole reads as zeros, and takes no room
	}
	if n == 0 {
		t.Fatal("the made-up run has no trial with an output")
	}
}
