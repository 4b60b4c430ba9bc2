package private

import (
	"fmt"

	"plimsoll/internal/measure/engine/adapter"
)

// Gone says what it means that the daemon does not answer any more. Nobody can
// start it again: it is the run's, and its log goes with its directory.
func (d *Daemon) Gone() string {
	what := "does not answer"
	if !d.Alive() {
		what = "has ended"
	}
	text := fmt.Sprintf("the private daemon %s, which this run started next to the user's own, %s: its trials fail, and those of the other environments go on", d.opts.Name, what)
	if words := adapter.Words([]byte(d.Log(16 << 10))); words != "" {
		text += "; the last that it said: " + words
	}
	return text
}
