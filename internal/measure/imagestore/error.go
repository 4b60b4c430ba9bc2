// Package imagestore builds the workload images, gives them to every engine in its own
// format, with the same content, and serves them where they are pulled.
//
// Why it is so: docs/decisions/images.md.
package imagestore

// Error says what could not be made, why, and what would help.
type Error struct {
	Text string
	Fix  string // a command or a step, where one is known
	Err  error
}

func (e *Error) Error() string {
	s := e.Text
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if e.Fix != "" {
		s += " (try: " + e.Fix + ")"
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }
