package record

import (
	"strings"
	"time"
)

// Earlier is what a run was measured with before it was gone on with, where
// that was something else than what stands in Run now. It is of the trials
// before Until; entries are in the order of time.
type Earlier struct {
	Until   time.Time    `json:"until"` // among Run.Resumed
	Differs []Difference `json:"differs"`
	Host    Host         `json:"host"`
	Tool    Tool         `json:"tool"`
	// Facts are those of the environments that now say something else, by id.
	Facts map[string]map[string]string `json:"facts,omitempty"`
}

// Difference is a fact that has changed.
type Difference struct {
	Env  string `json:"env,omitempty"` // of this environment, else of the machine
	Fact string `json:"fact"`
	Was  string `json:"was"`
	Now  string `json:"now"`
	// Unlike: times before and after it can't be taken together.
	Unlike bool `json:"unlike,omitempty"`
}

// String is such as "kernel: 6.1.0 → 6.12.4". Of a digest it has the first digits.
func (d Difference) String() string {
	s := d.Fact + ": " + abbreviated(d.Was) + " → " + abbreviated(d.Now)
	if d.Env != "" {
		return d.Env + " " + s
	}
	return s
}

// abbreviated cuts a digest to as many digits as tell it from others, in programs as in
// sentences.
func abbreviated(value string) string {
	const digits = 12
	if hex, ok := strings.CutPrefix(value, "sha256:"); ok && len(hex) > digits {
		return "sha256:" + hex[:digits]
	}
	return value
}
