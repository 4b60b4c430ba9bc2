//go:build linux && !unit

package inbrowser_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"plimsoll/internal/understand/page/browsertest"
	"plimsoll/internal/understand/page/browsertest/seen"
	"plimsoll/internal/understand/view"
)

// filters: a choice changes what is drawn and the address, and the address alone
// brings it back.
func filters(t *testing.T, b *browsertest.Browser, r report) {
	p := show(t, b, r, browsertest.Options{})
	state := func(p *browsertest.Page) (picture [32]byte, said, rows, hash string) {
		bring(t, p, "ranking")
		return sha256.Sum256(must(p.Picture("#chart-ranking .canvas"))(t)),
			eval[string](t, p, `document.querySelector("#chart-ranking .canvas").getAttribute("aria-label")`),
			eval[string](t, p, `document.querySelector("#rankings").innerText`),
			eval[string](t, p, `location.hash`)
	}
	picture0, said0, rows0, hash0 := state(p)
	if hash0 != "" {
		t.Errorf("before anything is chosen the address ends in %q", hash0)
	}
	try(t, p.Click("#filters summary"))
	ranking := first(r.data, 0).Ranking
	slowest := r.data.Envs[ranking[len(ranking)-1]].Group
	box := eval[string](t, p, fmt.Sprintf(`[...document.querySelectorAll("#filter-engine label")].find(l => l.innerText.startsWith(%q)).querySelector("input").id`, slowest))
	try(t, p.Click(`label:has(#`+box+`)`))
	try(t, p.Settle())
	picture1, said1, rows1, hash1 := state(p)
	if picture1 == picture0 || said1 == said0 || rows1 == rows0 || hash1 == hash0 {
		t.Errorf("an engine was taken out; changed: picture %t, description %t, table %t, address %t", picture1 != picture0, said1 != said0, rows1 != rows0, hash1 != hash0)
	}
	again := showAt(t, b, "file://"+r.path+hash1, browsertest.Options{})
	_, said2, rows2, hash2 := state(again)
	if said2 != said1 || rows2 != rows1 || hash2 != hash1 {
		t.Errorf("the address %s does not bring the filter back:\n%s\n%s\n%s", hash1, hash2, said1, said2)
	}
	try(t, p.Click("#filter-reset"))
	try(t, p.Settle())
	if _, said3, rows3, hash3 := state(p); said3 != said0 || rows3 != rows0 || hash3 != hash0 {
		t.Errorf("after the filter is taken away the page differs from before: %q, %q and %q", hash3, said3, said0)
	}
	try(t, p.Click(`[aria-label="Scale"] button[aria-pressed="false"]`))
	try(t, p.Settle())
	if _, said4, _, hash4 := state(p); said4 == said0 || !strings.Contains(said4, "×") || hash4 == hash0 {
		t.Errorf("ratios: %q at %q", said4, hash4)
	}
}

// trials: a click on a mark of a chart leads to the trials behind it.
func trials(t *testing.T, b *browsertest.Browser, r report) {
	p := show(t, b, r, browsertest.Options{})
	try(t, p.Click("#rankings .env"))
	try(t, p.Wait(`document.querySelector("dialog[open] #raw-trials")`))
	rows := eval[int](t, p, `document.querySelectorAll("#raw-trials tbody tr").length`)
	t0 := first(r.data, 0)
	if best := t0.Ranking[0]; rows < t0.N[best] {
		t.Errorf("%d trials are listed of %d", rows, t0.N[best])
	}
	browsertest.Accessible(t, p)
	try(t, p.Press(kb.Escape))
	try(t, p.Wait(`!document.querySelector("dialog[open]")`))
}

// first is the table of a workload that the page shows first.
func first(d *view.Data, w int) *view.Table { return d.Works[w].FirstTable() }

// exports: every chart is saved as SVG and PNG, every chart's numbers as CSV.
func exports(t *testing.T, b *browsertest.Browser, r report) {
	p := show(t, b, r, browsertest.Options{})
	for _, name := range charts(t, p) {
		if r.large() && name != "ranking" && name != "distributions" || strings.HasPrefix(name, "work-") && name != "work-0" {
			continue // more of the same
		}
		bring(t, p, name)
		svg := saved(t, p, name, "svg")
		texts := texts(t, svg)
		if len(texts) < 4 || !slices.ContainsFunc(texts, number.MatchString) {
			t.Errorf("%s.svg has the texts %q", name, texts)
		}
		if bytes.Count(svg, []byte("<path")) < 4 {
			t.Errorf("%s.svg draws next to nothing", name)
		}
		if name != "heat" { // its names are slanted, and their boxes are not
			apart(t, b, name, svg)
		}
		picture := saved(t, p, name, "png")
		l := must(seen.LookAt(picture))(t)
		wide := eval[int](t, p, `document.querySelector("#chart-`+name+` .canvas").clientWidth`)
		if size := must(png.DecodeConfig(bytes.NewReader(picture)))(t); size.Width != 2*wide || !l.Drawn() {
			t.Errorf("%s.png is %d × %d of a chart %d wide: %+v", name, size.Width, size.Height, wide, l)
		}
		rows := must(csv.NewReader(bytes.NewReader(saved(t, p, name, "csv"))).ReadAll())(t)
		if len(rows) < 3 || !number.MatchString(rows[1][len(rows[1])-1]+rows[1][1]) {
			t.Errorf("%s.csv has %d lines: %q", name, len(rows), rows[:min(3, len(rows))])
		}
		if name == "ranking" {
			ranked(t, r.data, rows)
		}
	}
}

func saved(t *testing.T, p *browsertest.Page, chart, format string) []byte {
	t.Helper()
	f := must(p.Save("#" + chart + "-" + format))(t)
	if f.Name != chart+"."+format {
		t.Errorf("%s of %s is saved as %q", format, chart, f.Name)
	}
	return f.Data
}

// ranked: the file's numbers are those of the data, none rounded.
func ranked(t *testing.T, d *view.Data, rows [][]string) {
	table := first(d, 0)
	if len(rows)-1 != len(table.Ranking) {
		t.Errorf("ranking.csv has %d environments of %d", len(rows)-1, len(table.Ranking))
	}
	column := func(name string) int { return slices.Index(rows[0], name) }
	for i, row := range rows[1:] {
		e := table.Ranking[i]
		if row[0] != d.Envs[e].Name {
			t.Errorf("ranking.csv has %q at place %d: expected %q", row[0], i, d.Envs[e].Name)
		}
		for name, want := range map[string]*float64{"median": table.Median[e], "low": table.Lo[e], "high": table.Hi[e]} {
			got := row[column(name)]
			if want == nil {
				if got != "" {
					t.Errorf("ranking.csv has for %s the %s %q where there is none", row[0], name, got)
				}
				continue
			}
			if v, err := strconv.ParseFloat(got, 64); err != nil || v != *want {
				t.Errorf("ranking.csv has for %s the %s %s: expected %g", row[0], name, got, *want)
			}
		}
		if n, err := strconv.Atoi(row[column("n")]); err != nil || n != table.N[e] {
			t.Errorf("ranking.csv has for %s n = %s: expected %d", row[0], row[column("n")], table.N[e])
		}
	}
}

// texts are the words of an SVG, which must be well formed.
func texts(t *testing.T, svg []byte) (out []string) {
	t.Helper()
	dec := xml.NewDecoder(bytes.NewReader(svg))
	for inside := false; ; {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("SVG: %v", err)
		}
		switch x := token.(type) {
		case xml.StartElement:
			inside = x.Name.Local == "text" || inside && x.Name.Local == "tspan"
		case xml.EndElement:
			inside = inside && x.Name.Local != "text"
		case xml.CharData:
			if inside {
				out = append(out, string(x))
			}
		}
	}
}

// apart: no label of a chart lies on another. It is looked at as SVG, since a
// canvas has no boxes.
func apart(t *testing.T, b *browsertest.Browser, name string, svg []byte) {
	path := filepath.Join(t.TempDir(), name+".svg")
	try(t, os.WriteFile(path, svg, 0o644))
	p := must(b.Open(path, browsertest.Options{}))(t)
	defer p.Close()
	none(t, name+": labels on each other")(p.Overlaps())
}

// keyboard: the Tab key reaches all that can be used, and it shows.
func keyboard(t *testing.T, b *browsertest.Browser, r report) {
	p := show(t, b, r, browsertest.Options{})
	if !r.large() {
		unfold(t, p)
	}
	walk := must(p.Walk())(t)
	if len(walk.Stops) < 30 {
		t.Errorf("the Tab key stops at %q only", walk.Stops)
	}
	none(t, "not reached by the Tab key")(walk.Missed, nil)
	none(t, "has the focus and does not show it")(walk.Unseen, nil)
	none(t, "has the focus out of sight")(walk.Covered, nil)
	if !strings.Contains(walk.Stops[0], "Skip") {
		t.Errorf("the first stop is %s: expected a link that skips the navigation", walk.Stops[0])
	}
	// A chart's trials without a mouse.
	try(t, eachKey(p, `document.querySelector("#rankings .env").focus(), true`, kb.Enter))
	try(t, p.Wait(`document.querySelector("dialog[open]")?.contains(document.activeElement)`))
	try(t, p.Press(kb.Escape))
	try(t, p.Wait(`document.activeElement.matches("#rankings .env")`))
}

func eachKey(p *browsertest.Page, before string, keys ...string) error {
	if _, err := browsertest.Eval[bool](p, before); err != nil {
		return err
	}
	for _, k := range keys {
		if err := p.Press(k); err != nil {
			return err
		}
	}
	return nil
}
