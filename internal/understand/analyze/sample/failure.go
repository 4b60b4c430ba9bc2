package sample

import "plimsoll/internal/record"

// Failure counts the failures of one class.
type Failure struct {
	Class record.Class `json:"class"`
	N     int          `json:"n"`
	Text  string       `json:"text"` // of the first
}
