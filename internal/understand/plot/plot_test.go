package plot

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"plimsoll/internal/common/golden"
	"plimsoll/internal/common/require"
	"plimsoll/internal/understand/view"
)

// element is one of an SVG.
type element struct {
	name  string
	attrs map[string]string
	text  string
	kids  []*element
}

func (e *element) all(name string) []*element {
	var out []*element
	for _, k := range e.kids {
		if k.name == name {
			out = append(out, k)
		}
		out = append(out, k.all(name)...)
	}
	return out
}

func (e *element) num(t *testing.T, attr string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(e.attrs[attr], 64)
	if err != nil {
		t.Fatalf("%s of %s: %v", attr, e.name, err)
	}
	return v
}

func parse(t *testing.T, b []byte) *element {
	t.Helper()
	root := &element{}
	stack := []*element{root}
	for dec := xml.NewDecoder(bytes.NewReader(b)); ; {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return root.kids[0]
		}
		if err != nil {
			t.Fatalf("this is no XML: %v", err)
		}
		top := stack[len(stack)-1]
		switch x := tok.(type) {
		case xml.StartElement:
			e := &element{name: x.Name.Local, attrs: map[string]string{}}
			for _, a := range x.Attr {
				e.attrs[a.Name.Local] = a.Value
			}
			top.kids = append(top.kids, e)
			stack = append(stack, e)
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.CharData:
			top.text += string(x)
		}
	}
}

func drawn(t *testing.T, format, name string, d *view.Data, o Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Draw(&b, format, name, d, o); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return b.Bytes()
}

// TestGolden: each chart of the made-up run, and that it is whole.
func TestGolden(t *testing.T) {
	pictures := map[string][]byte{}
	for _, c := range Names() {
		pictures[c.Name] = drawn(t, "svg", c.Name, made(), Options{})
		if !bytes.Equal(pictures[c.Name], drawn(t, "svg", c.Name, made(), Options{})) {
			t.Errorf("%s: the same data give other bytes", c.Name)
		}
	}
	var b bytes.Buffer
	require.NoError(t, History(&b, "svg", madeHistory(), Options{}))
	pictures["history"] = b.Bytes()
	for name, got := range pictures {
		root := parse(t, got)
		for _, need := range []string{"title", "desc", "style"} {
			if len(root.kids) < 3 || !slices.ContainsFunc(root.kids[:3], func(e *element) bool { return e.name == need && e.text != "" }) {
				t.Errorf("%s has no %s", name, need)
			}
		}
		if root.attrs["viewBox"] == "" || len(root.all("script")) > 0 {
			t.Errorf("%s has no viewBox, or a script", name)
		}
		checkInside(t, name, root)
		golden.Check(t, filepath.Join("testdata", name+".svg"), string(got))
	}
}

// checkInside: no text leaves the picture, and no two overlap.
func checkInside(t *testing.T, name string, root *element) {
	t.Helper()
	box := strings.Fields(root.attrs["viewBox"])
	w, _ := strconv.ParseFloat(box[2], 64)
	h, _ := strconv.ParseFloat(box[3], 64)
	type place struct {
		x0, y0, x1, y1 float64
		s              string
	}
	var seen []place
	for _, e := range root.all("text") {
		f := face{e.num(t, "font-size"), e.attrs["font-weight"] == "bold"}
		x, y, width := e.num(t, "x"), e.num(t, "y"), f.width(e.text)
		shift := map[string]float64{"": 0, "middle": 0.5, "end": 1}[e.attrs["text-anchor"]] * width
		p := place{x - shift, y - f.size*0.7, x - shift + width, y, e.text}
		if e.attrs["transform"] != "" {
			p = place{x - f.size*0.7, y + shift - width, x, y + shift, e.text}
		}
		if p.x0 < -0.5 || p.y0 < -0.5 || p.x1 > w+0.5 || p.y1 > h+0.5 {
			t.Errorf("%s: %q leaves the picture: %.0f,%.0f to %.0f,%.0f of %.0f × %.0f", name, e.text, p.x0, p.y0, p.x1, p.y1, w, h)
		}
		for _, q := range seen {
			if p.x0 < q.x1-0.5 && q.x0 < p.x1-0.5 && p.y0 < q.y1-0.5 && q.y0 < p.y1-0.5 {
				t.Errorf("%s: %q overlaps %q", name, p.s, q.s)
			}
		}
		seen = append(seen, p)
	}
}

// cells finds the group of each environment.
func cells(root *element) map[string]*element {
	out := map[string]*element{}
	for _, g := range root.all("g") {
		if g.attrs["class"] == "cell" {
			out[g.attrs["data-env"]] = g
		}
	}
	return out
}

// TestCells: every environment is in the picture, with its number at its
// place, and one without a number says why.
func TestCells(t *testing.T) {
	d := made()
	for _, name := range []string{"ranking", "overhead-ratios", "distributions", "phases"} {
		got := cells(parse(t, drawn(t, "svg", name, d, Options{})))
		for _, e := range d.Envs {
			g := got[e.ID]
			switch {
			case name == "overhead-ratios" && e.Baseline == "native":
				continue
			case g == nil:
				t.Errorf("%s lacks %s", name, e.ID)
			case e.ID == "broken":
				if !slices.ContainsFunc(g.all("text"), func(x *element) bool { return strings.HasPrefix(x.text, "n/a: every trial failed") }) {
					t.Errorf("%s does not say why %s is missing", name, e.ID)
				}
				if g.attrs["data-value"] != "" || len(g.all("circle")) > 1 {
					t.Errorf("%s has a mark for what is missing", name)
				}
			case g.attrs["data-value"] == "":
				t.Errorf("%s has no number of %s", name, e.ID)
			}
		}
	}
}

// TestPlaces reads the numbers back from where they are drawn: by the labels
// of the axis, whichever values and whichever axis.
func TestPlaces(t *testing.T) {
	for _, far := range []float64{1.02, 1.8, 7, 300, 4e5} {
		d := made()
		tab := &d.Works[0].Tables[0]
		for i, e := range tab.Ranking {
			v := 3e6 * math.Pow(far, float64(i)/float64(len(tab.Ranking)-1))
			*tab.Median[e], tab.Lo[e], tab.Hi[e] = v, ptr(v*0.999), ptr(v*1.001)
		}
		root := parse(t, drawn(t, "svg", "ranking", d, Options{}))
		last := -1.0
		got := cells(root)
		var xs, vs []float64
		for _, e := range tab.Ranking {
			g := got[d.Envs[e].ID]
			dots := g.all("circle")
			x := dots[len(dots)-1].num(t, "cx")
			if x <= last {
				t.Errorf("×%g: %s is not to the right of a smaller value", far, d.Envs[e].ID)
			}
			last = x
			v, _ := strconv.ParseFloat(g.attrs["data-value"], 64)
			if v != *tab.Median[e] {
				t.Errorf("the value of %s is %g, not %g", d.Envs[e].ID, v, *tab.Median[e])
			}
			xs, vs = append(xs, x), append(vs, v)
		}
		checkScale(t, far, root, xs, vs)
	}
}

// checkScale: marks lie between the labels that are next to them, in value as
// in place.
func checkScale(t *testing.T, far float64, root *element, xs, vs []float64) {
	t.Helper()
	unit := map[string]float64{"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}
	by := 0.0
	var labels [][2]float64
	for _, e := range root.all("text") {
		if name, ok := strings.CutPrefix(e.text, "median, "); ok {
			by = unit[name]
		}
	}
	for _, e := range root.all("text") {
		if v, err := strconv.ParseFloat(e.text, 64); err == nil && e.attrs["text-anchor"] == "middle" {
			labels = append(labels, [2]float64{e.num(t, "x"), v * by})
		}
	}
	if by == 0 || len(labels) < 2 {
		t.Fatalf("×%g: %d labels, unit %g", far, len(labels), by)
	}
	for i, x := range xs {
		for _, l := range labels {
			if x < l[0]-0.02 && vs[i] > l[1] || x > l[0]+0.02 && vs[i] < l[1] {
				t.Errorf("×%g: %g stands on the wrong side of %g", far, vs[i], l[1])
			}
		}
	}
}

// TestFormats: a PNG has colours, a PDF text.
func TestFormats(t *testing.T) {
	d := made()
	for _, c := range Names() {
		b := drawn(t, "png", c.Name, d, Options{DPI: 72})
		img, err := png.Decode(bytes.NewReader(b))
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		colours := map[[3]uint32]bool{}
		for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y++ {
			for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x++ {
				r, g, b, _ := img.At(x, y).RGBA()
				colours[[3]uint32{r, g, b}] = true
			}
		}
		if img.Bounds().Dx() != 640 || len(colours) < 50 {
			t.Errorf("%s: %v with %d colours", c.Name, img.Bounds(), len(colours))
		}
		pdf := drawn(t, "pdf", c.Name, d, Options{})
		if !bytes.HasPrefix(pdf, []byte("%PDF-")) || !bytes.Contains(pdf[len(pdf)-32:], []byte("%%EOF")) {
			t.Errorf("%s: this is no PDF", c.Name)
		}
		if !bytes.Equal(pdf, drawn(t, "pdf", c.Name, made(), Options{})) {
			t.Errorf("%s: the same data give another PDF", c.Name)
		}
	}
}

// TestPDFText: a PDF holds its text as text, in the code of its fonts.
func TestPDFText(t *testing.T) {
	pdf := drawn(t, "pdf", "ranking", made(), Options{})
	var content []byte
	for rest := pdf; ; {
		_, after, ok := bytes.Cut(rest, []byte("stream\n"))
		if !ok {
			break
		}
		rest = after
		if z, err := zlib.NewReader(bytes.NewReader(after)); err == nil {
			b, _ := io.ReadAll(z) // what follows the stream is no part of it
			content = append(content, b...)
		}
	}
	for _, want := range []string{"docker/runc", "230", "n/a: every trial failed: no such runtime", "4 × Made-up CPU"} {
		var code []byte
		for _, c := range utf16.Encode([]rune(want)) {
			code = binary.BigEndian.AppendUint16(code, c)
		}
		if !bytes.Contains(content, code) {
			t.Errorf("the PDF does not say %q", want)
		}
	}
	if n := bytes.Count(pdf, []byte("/FontFile2")); n != 2 || !bytes.Contains(pdf, []byte("/CreationDate (D:20260314150926)")) {
		t.Errorf("the PDF carries %d fonts, not 2, or is not of the run's date", n)
	}
}

// TestPDFReads: another program finds the text.
func TestPDFReads(t *testing.T) {
	program, err := exec.LookPath("pdftotext")
	if err != nil {
		t.Skip("pdftotext is not installed (package poppler-utils)")
	}
	path := filepath.Join(t.TempDir(), "ranking.pdf")
	require.NoError(t, os.WriteFile(path, drawn(t, "pdf", "ranking", made(), Options{}), 0o600))
	out, err := exec.Command(program, "-layout", path, "-").Output()
	require.NoError(t, err)
	for _, want := range []string{"docker/runc", "230", "n/a: every trial failed", "95 % interval"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the PDF does not say %q:\n%s", want, out)
		}
	}
}

// TestHostile: a name from a container is text, whatever is in it.
func TestHostile(t *testing.T) {
	d := made()
	for e := range d.Envs {
		d.Envs[e].Name, d.Envs[e].ID = hostile+d.Envs[e].ID, hostile+d.Envs[e].ID
	}
	d.Works[0].ID, d.Works[0].Title, d.Run.Study, d.Run.Host.CPU = hostile, hostile, hostile, hostile
	d.Works[0].Tables[0].Missing[5] = hostile
	d.Works[0].Tables[0].Metric.Title = hostile
	for _, c := range Names() {
		var b bytes.Buffer
		err := Draw(&b, "svg", c.Name, d, Options{})
		if errors.Is(err, ErrNoData) {
			continue // what is found by its id has another one now
		}
		require.NoError(t, err)
		root := parse(t, b.Bytes())
		if len(root.all("script")) > 0 || bytes.ContainsAny(b.Bytes(), "\x1b\x00") {
			t.Errorf("%s lets a name through", c.Name)
		}
		for _, format := range []string{"png", "pdf"} {
			if err := Draw(io.Discard, format, c.Name, d, Options{DPI: 36}); err != nil {
				t.Errorf("%s as %s: %v", c.Name, format, err)
			}
		}
	}
}

// TestRefusals: what cannot be drawn is said.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		format, name string
		o            Options
		want         string
		none         bool
	}{
		{"svg", "pie", Options{}, "choose one of ranking, overhead-ratios", false},
		{"gif", "ranking", Options{}, "choose one of svg, png, pdf", false},
		{"svg", "ranking", Options{Workload: "nothing"}, "this run has echo, density, load", false},
		{"svg", "ranking", Options{Metric: "nothing"}, "there are startup", false},
		{"svg", "ranking", Options{Workload: "load"}, "has no numbers", true},
		{"svg", "heatmap", Options{Baseline: "host"}, `against "host"`, true},
		{"svg", "phases", Options{Workload: "load"}, "has no phases", true},
		{"svg", "curves", Options{Metric: "nothing"}, "there are cpu", false},
		{"png", "ranking", Options{DPI: 9999}, "36 to 600", false},
		{"svg", "ranking", Options{Width: 10}, "240 to 4000", false},
	} {
		err := Draw(io.Discard, c.format, c.name, made(), c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, ErrNoData) != c.none {
			t.Errorf("%s %+v: %v", c.name, c.o, err)
		}
	}
	for _, c := range Names() {
		if err := Draw(io.Discard, "svg", c.Name, &view.Data{}, Options{}); !errors.Is(err, ErrNoData) {
			t.Errorf("%s of nothing: %v", c.Name, err)
		}
	}
}

// TestNarrow: a column of a paper is enough, and a page of 60 rows, too.
func TestNarrow(t *testing.T) {
	d := made()
	for _, w := range []float64{240, 340, 1200} {
		for _, c := range Names() {
			checkInside(t, c.Name, parse(t, drawn(t, "svg", c.Name, d, Options{Width: w})))
		}
	}
}
