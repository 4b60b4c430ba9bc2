package analyze

// Beside is what else the machine did around the trials of an environment: by
// block, as Cell.ByBlock is, NaN where nothing was recorded.
type Beside struct {
	Env string
	// Lost is what others' work may have cost the block's trials at most, on the
	// logarithm (see Lost).
	Lost []float64
	// Waits are the shares of the trials' time in which somebody waited for what the
	// kind names: a disk, memory, or the hypervisor (steal, of one processor's time).
	// Whoever waited may have been the trial itself.
	Waits map[Wait][]float64
	// Busy is how many of the trials began on a machine that was not calm, as a share,
	// and Running how many other threads ran or wanted to before them, nil where
	// nobody looked.
	Busy    float64
	Running *float64
}

// Wait is a kind of waiting that the kernel counts for the machine as a whole.
type Wait string

// What a machine waits for, besides processors.
const (
	WaitMemory Wait = "memory"
	WaitIO     Wait = "io"
	WaitSteal  Wait = "steal"
)

// Waits lists the kinds, in the order in which they are shown.
var Waits = []Wait{WaitIO, WaitMemory, WaitSteal}

// For names what is waited for.
func (w Wait) For() string {
	switch w {
	case WaitMemory:
		return "memory"
	case WaitSteal:
		return "the hypervisor"
	}
	return "a disk"
}

// BesideOf finds an environment's, or nil.
func (w *Workload) BesideOf(env string) *Beside {
	return Find(w.Beside, func(x *Beside) bool { return x.Env == env })
}
