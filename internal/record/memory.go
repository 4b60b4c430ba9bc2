package record

import "errors"

// errNoFiles is what a run in memory says of its files.
var errNoFiles = errors.New("this run is in memory and has no files")

// InMemory gives a reader of a run that was never written, such as a
// simulated one. It has no samples and no outputs. The slice is not copied.
func InMemory(run *Run, trials []Trial) *Reader {
	return &Reader{run: run, trials: trials, memory: true}
}

func (r *Reader) held(yield func(*Trial, error) bool) {
	var seen bitset
	for i := range r.trials {
		t := &r.trials[i]
		if err := checkSeq(t.Seq); err != nil {
			yield(nil, err)
			return
		}
		if !seen.add(t.Seq) {
			yield(nil, errTwice(t.Seq))
			return
		}
		if !yield(t, nil) {
			return
		}
	}
}
