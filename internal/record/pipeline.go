package record

import (
	"iter"
	"runtime"
	"sync"
)

// slot is one decoded line.
type slot struct {
	trial  Trial
	parts  *parts
	number int // of the line
	err    error
}

// batch is some lines on their way: read by one, decoded by another, handed on
// by a third, in the order of the file.
type batch struct {
	text  []byte
	ends  []int // of each line in text
	slots []*slot
	ready chan struct{}
}

const (
	// maxBatch bounds the lines of a batch, maxBatchText about its bytes: a
	// few fill a processor's cache and are worth the hand-over.
	maxBatch     = 512
	maxBatchText = 256 << 10
	// maxDecoders bounds how many decode at once: beyond it whoever takes the
	// trials is the slower one.
	maxDecoders = 4
)

// decodeLines reads all lines, checks their sums and decodes them on all
// processors. A slot is valid until the next one. When it has come to its end
// sc and c are at the end of the file, or sc has an error.
func decodeLines(sc *lineScanner, c *chain) iter.Seq[*slot] {
	return func(yield func(*slot) bool) {
		workers := min(runtime.GOMAXPROCS(0), maxDecoders)
		free := make(chan *batch, 2*workers+1)
		for range cap(free) {
			free <- &batch{ready: make(chan struct{}, 1)}
		}
		work, order := make(chan *batch, cap(free)), make(chan *batch, cap(free))
		stop := make(chan struct{})
		var wg sync.WaitGroup
		defer wg.Wait() // nobody reads the file once we are back
		defer close(stop)
		wg.Go(func() {
			defer close(order)
			defer close(work)
			for more := true; more; {
				select {
				case <-stop:
					return
				case b := <-free:
					if more = b.fill(sc, c); len(b.ends) > 0 {
						order <- b // never waits: there are no more batches than places
						work <- b
					}
				}
			}
		})
		for range workers {
			wg.Go(func() {
				dec := newDecoder()
				for b := range work {
					b.decode(dec)
					b.ready <- struct{}{}
				}
			})
		}
		for b := range order {
			<-b.ready
			for _, s := range b.slots[:len(b.ends)] {
				if !yield(s) {
					return
				}
			}
			free <- b
		}
	}
}

// fill takes the next lines, and says whether there are more.
func (b *batch) fill(sc *lineScanner, c *chain) bool {
	b.text, b.ends = b.text[:0], b.ends[:0]
	for len(b.ends) < maxBatch && len(b.text) < maxBatchText {
		if !sc.next() {
			return false
		}
		if len(b.slots) == len(b.ends) {
			b.slots = append(b.slots, &slot{parts: newParts()})
		}
		s := b.slots[len(b.ends)]
		var line []byte
		line, s.err = c.take(sc.line)
		s.number = sc.number
		b.text = append(b.text, line...)
		b.ends = append(b.ends, len(b.text))
	}
	return true
}

func (b *batch) decode(dec *decoder) {
	from := 0
	for i, to := range b.ends {
		s := b.slots[i]
		if s.err == nil {
			dec.parts = s.parts
			s.err = dec.decode(b.text[from:to:to], &s.trial)
		}
		from = to
	}
}
