package run

import (
	"errors"
	"slices"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// noProof is the failure of a payload that did not answer with its word.
func noProof(err error, res engine.Result) *record.Failure {
	class := record.BadOutput
	if errors.Is(err, probe.ErrNoProof) {
		class = record.NoProof
	}
	return &record.Failure{Class: class, Text: noProofText(err, res)}
}

// unstarted is why a container of ours does not count as started, by what came of its
// run; nil where it does.
func unstarted(res engine.Result, err error, word string) *record.Failure {
	switch {
	case err != nil:
		return engine.FailureOf(err)
	case res.Failure != nil:
		return res.Failure
	}
	if _, err := probe.ParsePayload(res.Stdout, word); err != nil {
		return noProof(err, res)
	}
	return nil
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
