package timeline

import (
	"cmp"
	"maps"
	"slices"

	"plimsoll/internal/record"
)

// OwnSpans are what the engine tells of its own work (OpenTelemetry), beside what lay on
// the way meanwhile.
type OwnSpans struct {
	// How says what was switched on for it.
	How string `json:"how"`
	// ClockErrorNS is what the spans' times may be wrong by on the clock of the rest.
	ClockErrorNS int64 `json:"clock_error_ns"`
	// Came is how many came in the starts that are shown, and Refused for how many there
	// was no room.
	Came    int `json:"came"`
	Refused int `json:"refused,omitempty"`
	// Rows are in the order of their beginning, each before those that it consists of.
	Rows []*SpanRow `json:"rows"`
}

// SpanRow is the spans of a name, below those of the same names, in the mean of the middle
// half of the starts.
type SpanRow struct {
	Name    string `json:"name"`
	Service string `json:"service"`
	Depth   int    `json:"depth"`
	// Starts have one or more of them, Times as many in each start.
	Starts int     `json:"starts"`
	Times  float64 `json:"times"`
	Failed int     `json:"failed,omitempty"` // of how many the engine says so
	// NS is how long they took in a start, by the engine's own word; InsideNS is the part
	// before the start's end, and Share that part's of the start.
	NS       int64   `json:"ns"`
	InsideNS int64   `json:"inside_ns"`
	Share    float64 `json:"share"`
	FirstNS  int64   `json:"first_ns"` // when the first of them began, after the request
	// Path is what lay on the way meanwhile, the largest part first.
	Path []SpanPart `json:"path"`

	below []*SpanRow
	parts map[string]map[string]int64 // ns by program and cause
	busy  map[string]map[string]int64 // what each program was at, at the ticks of the clock in what it computed
}

// SpanPart is what a program had on the way while a span lasted.
type SpanPart struct {
	Program string  `json:"program"`
	Share   float64 `json:"share"` // of the spans' time before the start's end
	Most    string  `json:"most"`  // what most of it went into
	Of      float64 `json:"most_share"`
}

// deepestSpan and mostRows bound a table of what comes from outside.
const (
	deepestSpan = 12
	mostRows    = 200
)

// Own sets the engine's own spans beside the explanation.
func (x *Explanation) Own(o *OwnSpans) {
	root := &SpanRow{Depth: -1}
	var whole int64
	for _, c := range x.used {
		whole += c.Span
		o.Came += len(c.Spans)
		of := map[[8]byte][]*record.TraceSpan{}
		known := map[[8]byte]bool{}
		for i := range c.Spans {
			known[c.Spans[i].ID] = true
		}
		for i := range c.Spans {
			s := &c.Spans[i]
			above := s.Parent
			if !known[above] {
				above = [8]byte{} // it stands for itself
			}
			of[above] = append(of[above], s)
		}
		seen := map[*SpanRow]bool{}
		root.take(of, [8]byte{}, c, c.Path(), seen)
		for r := range seen {
			r.Starts++
		}
	}
	root.settle(x.used, whole, map[string]map[string]int64{})
	root.list(&o.Rows)
	x.Spans = o
}

// take adds the spans below one, and those below them.
func (r *SpanRow) take(of map[[8]byte][]*record.TraceSpan, above [8]byte, c *Course, path []Piece, seen map[*SpanRow]bool) {
	if r.Depth+1 >= deepestSpan {
		return
	}
	for _, s := range of[above] {
		b := r.named(s)
		if b == nil {
			continue
		}
		if !seen[b] {
			b.FirstNS += s.From
			seen[b] = true
		}
		b.Times++
		b.NS += s.To - s.From
		if s.Failed {
			b.Failed++
		}
		from, to := max(s.From, 0), min(s.To, c.Span)
		b.InsideNS += max(to-from, 0)
		for i := range path {
			p := &path[i]
			if ns := min(p.To, to) - max(p.From, from); ns > 0 {
				program := c.name(p.Thread, p.From)
				if b.parts[program] == nil {
					b.parts[program], b.busy[program] = map[string]int64{}, map[string]int64{}
				}
				b.parts[program][p.why().Text] += ns
				if p.computes() {
					for _, at := range c.Threads[p.Thread].parts(max(p.From, from), min(p.To, to)) {
						b.busy[program][at]++
					}
				}
			}
		}
		if s.ID != above { // else it would stand below itself
			b.take(of, s.ID, c, path, seen)
		}
	}
}

// named finds or adds the row of a span below; nil where there are too many.
func (r *SpanRow) named(s *record.TraceSpan) *SpanRow {
	for _, b := range r.below {
		if b.Name == s.Name && b.Service == s.Service {
			return b
		}
	}
	if len(r.below) >= mostRows {
		return nil
	}
	b := &SpanRow{Name: s.Name, Service: s.Service, Depth: r.Depth + 1, parts: map[string]map[string]int64{}, busy: map[string]map[string]int64{}}
	r.below = append(r.below, b)
	return b
}

// settle makes means of sums. What programs were at at all is looked up once.
func (r *SpanRow) settle(courses []*Course, whole int64, at map[string]map[string]int64) {
	starts := int64(max(len(courses), 1))
	for _, b := range r.below {
		b.settle(courses, whole, at)
	}
	slices.SortStableFunc(r.below, func(a, b *SpanRow) int { return cmp.Compare(a.FirstNS, b.FirstNS) })
	if r.Starts == 0 {
		return
	}
	inside := float64(max(r.InsideNS, 1))
	for program, causes := range r.parts {
		p := SpanPart{Program: program}
		r.divided(program, courses, at)
		var all, most int64
		for _, cause := range slices.Sorted(maps.Keys(causes)) {
			ns := causes[cause]
			if all += ns; ns > most {
				p.Most, most = cause, ns
			}
		}
		p.Share, p.Of = float64(all)/inside, float64(most)/inside
		r.Path = append(r.Path, p)
	}
	slices.SortFunc(r.Path, func(a, b SpanPart) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.Program, b.Program))
	})
	r.Share = float64(r.InsideNS) / float64(max(whole, 1))
	r.FirstNS /= int64(r.Starts)
	r.NS, r.InsideNS, r.Times = r.NS/starts, r.InsideNS/starts, r.Times/float64(starts)
}

// divided divides what a program computed by what it was found at: then, or where the clock
// never ticked then, at any time.
func (r *SpanRow) divided(program string, courses []*Course, at map[string]map[string]int64) {
	found := r.busy[program]
	if len(found) == 0 {
		if at[program] == nil {
			at[program] = map[string]int64{}
			for _, c := range courses {
				for text, n := range c.partsOf(program) {
					at[program][text] += n
				}
			}
		}
		found = at[program]
	}
	var ticks int64
	for _, n := range found {
		ticks += n
	}
	causes := r.parts[program]
	own := causes[ownCode]
	if ticks == 0 || own == 0 {
		return
	}
	delete(causes, ownCode)
	for text, n := range found {
		causes[cmp.Or(text, ownCode)] += own * n / ticks
	}
}

// list puts the rows in their order.
func (r *SpanRow) list(all *[]*SpanRow) {
	for _, b := range r.below {
		if len(*all) >= mostRows {
			return
		}
		*all = append(*all, b)
		b.list(all)
	}
}

// spanRows are the spans of a course in as few rows as have none beside each other that
// overlap, unless one lies within the other.
func (c *Course) spanRows() [][]record.TraceSpan {
	var rows [][]record.TraceSpan
	var open [][]int64 // of each row, the ends of what has not ended, the innermost last
	for _, s := range c.Spans {
		put := -1
		for i := range rows {
			for n := len(open[i]); n > 0 && open[i][n-1] <= s.From; n-- {
				open[i] = open[i][:n-1]
			}
			if n := len(open[i]); n == 0 || s.To <= open[i][n-1] {
				put = i
				break
			}
		}
		if put < 0 {
			put = len(rows)
			rows, open = append(rows, nil), append(open, nil)
		}
		rows[put], open[put] = append(rows[put], s), append(open[put], s.To)
	}
	return rows
}
