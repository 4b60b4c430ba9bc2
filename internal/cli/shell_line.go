//go:build linux

package cli

// shellLine is a command line that is put together.
type shellLine []string

// add adds words where what they say is given.
func (l *shellLine) add(given bool, words ...string) {
	if given {
		*l = append(*l, words...)
	}
}
