package timeline

// Stage is a stretch of the way in which one program had the time, in their order.
type Stage struct {
	From, To int64 // ns after the request
	Program  string
	// For are the programs that waited for it, the one that asked first.
	For []string
	// Why is what most of the stage went into, and its share.
	Why   string
	Share float64
	// Shorter is by how much less the whole would take without the stage, ns, if all else
	// took as long as it did: at most.
	Shorter int64

	causes map[string]int64
}

// Stages are the way in time's order; what is shorter than least counts for the
// stage before it.
func (c *Course) Stages(least int64) []Stage {
	var whole []Stage
	r := c.replay()
	for _, p := range r.pieces {
		program := c.name(p.Thread, p.From)
		if n := len(whole); n == 0 || whole[n-1].Program != program {
			s := Stage{From: p.From, Program: program, causes: map[string]int64{}}
			for _, id := range p.For {
				if n := c.name(id, p.From); n != program && (len(s.For) == 0 || s.For[len(s.For)-1] != n) {
					s.For = append(s.For, n)
				}
			}
			whole = append(whole, s)
		}
		s := &whole[len(whole)-1]
		s.To = p.To
		s.causes[p.why().Text] += p.Span()
	}
	var out []Stage
	for _, s := range whole {
		n := len(out)
		switch {
		case n > 0 && (s.To-s.From < least || out[n-1].Program == s.Program):
			out[n-1].To = s.To
			if out[n-1].Program == s.Program {
				for text, ns := range s.causes {
					out[n-1].causes[text] += ns
				}
			}
		default:
			out = append(out, s)
		}
	}
	for i := range out {
		s := &out[i]
		var most int64
		for text, ns := range s.causes {
			if ns > most || ns == most && text < s.Why {
				s.Why, most = text, ns
			}
		}
		s.Share = float64(most) / float64(s.To-s.From)
		var taken []taking
		for k := range r.pieces {
			if p := &r.pieces[k]; p.From >= s.From && p.To <= s.To {
				taken = append(taken, taking{k, 1})
			}
		}
		s.Shorter = r.without(taken)
	}
	return out
}
