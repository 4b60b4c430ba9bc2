package run

import (
	"errors"
	"slices"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

func noProofClass(err error) record.Class {
	if errors.Is(err, probe.ErrNoProof) {
		return record.NoProof
	}
	return record.BadOutput
}

// noProofText says what came instead of the word.
func noProofText(err error, res engine.Result) string {
	text := err.Error()
	for _, s := range [][]byte{res.Stderr, res.Stdout} {
		if line := lastLine(s); line != "" {
			return text + "; the last it said: " + line
		}
	}
	return text + "; nothing was printed"
}

func lastLine(b []byte) string {
	const most = 300
	lines := slices.DeleteFunc(splitLines(b), func(s string) bool { return s == "" })
	if len(lines) == 0 {
		return ""
	}
	s := lines[len(lines)-1]
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
