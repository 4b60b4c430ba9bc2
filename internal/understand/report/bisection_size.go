package report

import (
	"fmt"
	"math"

	"plimsoll/internal/understand/analyze/bisection"
	"plimsoll/internal/understand/analyze/releases"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/words"
)

// bySize says that sizes of the program decided, of which nothing was measured.
func (w bisectionWords) bySize() bool { return w.Metric.ID == releases.Size.ID }

// grown is how much larger a program is than another, or smaller, to the byte.
func grown(from, to int64, ratio *sample.Estimate) string {
	by, more := to-from, "more"
	if by < 0 {
		by, more = -by, "less"
	}
	s := fmt.Sprintf("%s %s, %d → %d", words.Plural(int(by), "byte"), more, from, to)
	if math.Abs(ratio.Value-1) >= 1e-4 { // else it would read as none
		s += ", " + relative(ratio)
	}
	return s
}

// bytesBetween is how much larger the commit's program is than that of the one before.
func (w bisectionWords) bytesBetween(p *bisection.Finding) string {
	b := p.Bytes
	s := fmt.Sprintf("%s %s against %s", w.what(), grown(b.Before, b.Commit, p.Change), w.commit(w.Outcome.Before).Short())
	if p.More {
		return s + fmt.Sprintf("; the ends differ by %s, so that there is another step", words.Plural(int(b.Bad-b.Good), "byte"))
	}
	return s
}

// bytesMore is the change of a row of the table.
func bytesMore(s *BisectionStep) string {
	b := s.Finding.Bytes
	switch s.Kind {
	case bisection.Ends:
		return fmt.Sprintf("%+d bytes", b.Bad-b.Good)
	case bisection.Pair:
		return fmt.Sprintf("%+d bytes", b.Commit-b.Before)
	}
	return fmt.Sprintf("%+d bytes", b.Commit-b.Good)
}
