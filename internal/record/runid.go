package record

import (
	"crypto/rand"
	"regexp"
)

var runID = regexp.MustCompile(`^[a-z0-9]{8}$`)

// IsRunID says whether a text can be a run's id.
func IsRunID(s string) bool { return runID.MatchString(s) }

// NewRunID gives a new random id: eight of [a-z0-9].
func NewRunID() string {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	b := make([]byte, 8)
	_, _ = rand.Read(b) // never fails: the Go runtime ends the program instead
	for i := range b {
		b[i] = letters[int(b[i])%len(letters)]
	}
	return string(b)
}
