package plot

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/history"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/words"
)

// maxSeries is how many series one picture of a history shows.
const maxSeries = 40

const (
	seriesH  = 52.0
	sectionH = 22.0
)

// History writes a picture of histories: a strip for each series, with its
// runs, the levels between its changes, and the changes.
func History(w io.Writer, format string, h *history.Histories, o Options) error {
	o, err := o.normal()
	if err != nil {
		return err
	}
	p := &picture{
		name: "history", title: "History",
		notes: []string{fmt.Sprintf("Each point is a run with its 95 %% interval, each strip has a scale of its own. Lines are levels, their bands 95 %% intervals; a vertical line is a change of at least %.3g %% (%s; %.3g %% for a false one in all series together). A change with a question mark is of the last run alone.",
			100*h.Threshold, words.Clean(h.Method), 100*h.Alpha)},
	}
	room, series := maxSeries, 0
	var spans []string
	for i := range h.Histories {
		one := &h.Histories[i]
		series += len(one.Series)
		n := min(room, len(one.Series))
		room -= n
		if n > 0 {
			p.height += sectionH + seriesH*float64(n) + axisH
		}
		if len(one.Runs) == 0 {
			continue
		}
		first, last := one.Runs[0].Started.UTC(), one.Runs[len(one.Runs)-1].Started.UTC()
		spans = append(spans, fmt.Sprintf("%s, %s to %s", words.Plural(len(one.Runs), "run"), first.Format(time.DateOnly), last.Format(time.DateOnly)))
		if last.After(p.date) {
			p.date = last
		}
		p.describeHistory(one)
	}
	if series == 0 {
		return noData("no series in these histories")
	}
	p.sub = []string{strings.Join(spans, "; ")}
	if series > maxSeries {
		p.notes = append(p.notes, fmt.Sprintf("%d more series are not drawn: choose by a filter.", series-maxSeries))
	}
	p.body = func(s surface, b box) { drawHistories(s, b, h) }
	return p.write(w, format, o)
}

func (p *picture) describeHistory(h *history.History) {
	for _, c := range h.Changes {
		p.desc = append(p.desc, seriesName(&h.Series[c.Series])+": "+changeText(&c)+" since "+words.Clean(h.Runs[c.After].Run))
	}
	if len(h.Changes) == 0 {
		p.desc = append(p.desc, words.Clean(h.Study)+": no change")
	}
}

func seriesName(s *history.Series) string {
	return words.Clean(s.Env) + ", " + words.Clean(s.Workload) + ", " + metricName(s.Metric)
}

func changeText(c *history.Change) string {
	text := "× " + report1(c.Ratio) + " " + string(c.Direction)
	if !c.Confirmed {
		text += "?"
	}
	return text
}

func report1(e sample.Estimate) string {
	v := words.NumberOf(e, 1, words.Full).Value
	return v
}

func drawHistories(s surface, b box, all *history.Histories) {
	room, y := maxSeries, b.y
	for i := range all.Histories {
		h := &all.Histories[i]
		n := min(room, len(h.Series))
		room -= n
		if n == 0 {
			continue
		}
		head := words.Clean(h.Study)
		if m := strings.TrimLeft(words.Clean(h.Machine), " ,"); m != "" && !strings.HasPrefix(m, "0 CPUs") { // an imported run knows none
			head += " on " + m
		}
		s.text(point{b.x, y + 14}, boldFace.fitEnd(head+" · "+words.Plural(len(h.Runs), "run"), b.w), boldFace, left, false, black)
		y += sectionH
		y = drawHistory(s, box{b.x, y, b.w, 0}, h, n)
	}
}

// drawHistory draws n series and the runs below, and gives where it ends.
func drawHistory(s surface, b box, h *history.History, n int) float64 {
	groups := map[string]int{}
	x := axis{lo: -0.6, hi: float64(len(h.Runs)) - 0.4, by: 1}
	nameW := min(b.w*0.32, 190)
	x = x.place(b.x+nameW+colGap, b.right()-62)
	y := b.y
	for i := range n {
		sr := &h.Series[i]
		if _, ok := groups[sr.Engine]; !ok {
			groups[sr.Engine] = len(groups)
		}
		g := groups[sr.Engine]
		l := look{ink: palette[g%len(palette)], shape: g / len(palette)}
		if i%2 == 1 {
			rect(s, box{b.x - 4, y, b.w + 8, seriesH}, stripe)
		}
		glyph(s, point{b.x + 3, y + seriesH/2 - 5}, 2.6, l.shape, l.ink, stroke{})
		s.text(point{b.x + 10, y + seriesH/2 - 2}, nameFace.fit(words.Clean(sr.Env), nameW-10), nameFace, left, false, black)
		s.text(point{b.x + 10, y + seriesH/2 + 9}, tinyFace.fit(words.Clean(sr.Workload)+" · "+lower(metricName(sr.Metric))+againstText(sr), nameW-10), tinyFace, left, false, muted)
		s.open(mark{class: "series", title: seriesName(sr), data: [][2]string{{"env", words.Clean(sr.Env)}, {"metric", sr.Metric.ID}}})
		drawSeries(s, h, i, x, l, box{b.x, y, b.w, seriesH})
		s.close()
		y += seriesH
	}
	step := max(1, (len(h.Runs)*46+int(x.to-x.from)-1)/int(x.to-x.from))
	line(s, x.from, y, x.to, y, stroke{ink: frame, width: 0.6})
	for i := 0; i < len(h.Runs); i += step {
		at := x.at(float64(i))
		line(s, at, y, at, y+3, stroke{ink: frame, width: 0.6})
		s.text(point{at, y + 11.5}, runLabel(&h.Runs[i]), tinyFace, middle, false, muted)
	}
	return y + axisH
}

// runLabel is the day of a run; a release has none and is called by its name.
func runLabel(r *history.PastRun) string {
	if r.Started.IsZero() {
		return tinyFace.fitEnd(words.Clean(r.Run), 44)
	}
	return r.Started.UTC().Format("06-01-02")
}

func againstText(s *history.Series) string {
	if s.Against == "" {
		return ""
	}
	return " / " + words.Clean(s.Against)
}

func drawSeries(s surface, h *history.History, at int, x axis, l look, b box) {
	sr := &h.Series[at]
	var sp span
	for _, p := range sr.Points {
		if p.Estimate != nil {
			sp.add(p.Value)
			sp.addEach(p.Lo, p.Hi)
		}
	}
	if len(sp.all) == 0 {
		why := ""
		if n := len(sr.Points); n > 0 {
			why = ": " + words.Clean(sr.Points[n-1].Missing)
		}
		s.text(point{x.from, b.y + b.h/2 + 3}, smallFace.fitEnd("n/a"+why, x.to-x.from), smallFace, left, false, muted)
		return
	}
	unit := sr.Metric.Unit
	if sr.Against != "" {
		unit = ""
	}
	y := sp.axis(unit)
	if !y.log { // a strip shows changes, not sizes
		pad := max((sp.hi-sp.lo)*0.1, sp.hi*0.02, 1e-12)
		y.lo, y.hi = sp.lo-pad, sp.hi+pad
	}
	y = y.place(b.bottom()-5, b.y+9)
	drawRegimes(s, h, at, x, y, l, b)
	for i, p := range sr.Points {
		px := x.at(float64(i))
		if p.Estimate == nil {
			cross(s, point{px, b.bottom() - 6}, 1.8, stroke{ink: muted, width: 0.8})
			continue
		}
		s.open(mark{class: "run", title: words.Clean(h.Runs[i].Run) + ": " + report1(sample.Estimate{Value: p.Value / y.by}) + " " + y.unit,
			data: [][2]string{{"value", strconv.FormatFloat(p.Value, 'g', -1, 64)}}})
		if p.Lo != nil && p.Hi != nil {
			line(s, px, y.at(*p.Lo), px, y.at(*p.Hi), stroke{ink: l.thin(0.6), width: 0.9})
		}
		glyph(s, point{px, y.at(p.Value)}, 2.1, l.shape, l.ink, stroke{})
		s.close()
	}
}

// drawRegimes draws the levels, what they are now, and the changes.
func drawRegimes(s surface, h *history.History, at int, x, y axis, l look, b box) {
	sr := &h.Series[at]
	clip := func(v float64) float64 { return min(max(y.at(v), b.y+1), b.bottom()-1) }
	for i, r := range sr.Regimes {
		from, to := x.at(float64(r.First)-0.45), x.at(float64(r.Last)+0.45)
		if r.Level.Lo != nil && r.Level.Hi != nil {
			top, bottom := clip(*r.Level.Hi), clip(*r.Level.Lo)
			rect(s, box{from, top, to - from, bottom - top}, l.thin(0.15))
		}
		line(s, from, y.at(r.Level.Value), to, y.at(r.Level.Value), stroke{ink: l.thin(0.8), width: 1})
		if i == len(sr.Regimes)-1 {
			v := words.NumberOf(r.Level, y.by, words.Full).Value
			unit := cmp.Or(y.unit, "×")
			if sr.Against != "" {
				unit = "×"
			}
			s.text(point{b.right(), b.y + b.h/2 + 3}, v+" "+unit, smallFace, right, false, black)
		}
	}
	for _, c := range h.Changes {
		if c.Series != at {
			continue
		}
		cx := x.at((float64(c.Before) + float64(c.After)) / 2)
		tone := failed
		if c.Direction != compare.Worse {
			tone = palette[2]
		}
		dash := []float64(nil)
		if !c.Confirmed {
			dash = []float64{3, 2}
		}
		line(s, cx, b.y+2, cx, b.bottom()-2, stroke{ink: tone, width: 1.1, dash: dash})
		text, a, tx := changeText(&c), left, cx+3
		if tx+tinyFace.width(text) > x.to {
			a, tx = right, cx-3
		}
		s.text(point{tx, b.y + 7.5}, text, tinyFace, a, false, black)
	}
}
