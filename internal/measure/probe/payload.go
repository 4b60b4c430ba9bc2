package probe

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"time"
)

// Payload is what a payload said.
type Payload struct {
	First int64 // its first instruction, ns of its own CLOCK_MONOTONIC
	Done  int64 // its last stamp; 0 where it did not come to that
	// Touched is when it had written to all of PayloadArgs.TouchBytes; 0 where
	// it did not come to that or had none.
	Touched int64
	// Report is what it saw, by key; see docs/records.md.
	Report map[string]string
}

// ErrNoProof is returned where the word did not come.
var ErrNoProof = errors.New("the payload did not answer with this trial's word")

// InitWord stands in an init's one line where a payload's has its word, so
// that ParsePayload reads both. An init is the probe with the argument "init".
const InitWord = "init"

// PayloadArgs are the arguments of a payload (without the probe's own path).
type PayloadArgs struct {
	Word   string // 1 to 128 bytes without blanks and control characters
	Exit   int    // exit status
	Stay   bool   // stay until told by SIGTERM (or end of standard input in the variant echo)
	OnTerm string // "exit" (default), "ignore" or "none"
	Report bool   // report what is seen from inside
	// TouchBytes is anonymous memory, in small pages, that is written to after
	// the first line and the report, and kept.
	TouchBytes int64
	// Rest is for how long it sleeps before it ends.
	Rest time.Duration
	Echo bool // answer each line of standard input with a stamp (clock exchange)
}

// Argv gives the argument list, with path as Argv[0].
func (a PayloadArgs) Argv(path string) []string {
	argv := []string{path, "payload", a.Word}
	if a.Exit != 0 {
		argv = append(argv, "--exit", strconv.Itoa(a.Exit))
	}
	if a.Stay {
		argv = append(argv, "--stay")
	}
	if a.OnTerm != "" {
		argv = append(argv, "--on-term", a.OnTerm)
	}
	if a.Report {
		argv = append(argv, "--report")
	}
	if a.TouchBytes > 0 {
		argv = append(argv, "--touch", strconv.FormatInt(a.TouchBytes, 10))
	}
	if a.Rest > 0 {
		argv = append(argv, "--rest", strconv.FormatInt(a.Rest.Nanoseconds(), 10))
	}
	if a.Echo {
		argv = append(argv, "--echo")
	}
	return argv
}

// ParsePayload reads what a payload printed and checks the trial's word.
// Lines of others, before or between, are passed over, and so are the
// carriage returns of a terminal; a line without its end counts for nothing.
func ParsePayload(out []byte, word string) (Payload, error) {
	p := Payload{}
	proved := false
	first := "plimsoll 1 " + word + " first "
	for len(out) > 0 {
		end := bytes.IndexByte(out, '\n')
		if end < 0 {
			break
		}
		line := strings.TrimSuffix(string(out[:end]), "\r")
		out = out[end+1:]
		if !proved {
			if rest, ok := strings.CutPrefix(line, first); ok && word != "" {
				p.First, proved = stamp(rest)
			}
			continue
		}
		if rest, ok := strings.CutPrefix(line, "plimsoll done "); ok {
			if at, ok := stamp(rest); ok {
				p.Done = at
			}
		} else if rest, ok := strings.CutPrefix(line, "plimsoll touched "); ok {
			if at, ok := stamp(rest); ok {
				p.Touched = at
			}
		} else if rest, ok := strings.CutPrefix(line, "k "); ok {
			key, value, _ := strings.Cut(rest, " ")
			if p.Report == nil {
				p.Report = map[string]string{}
			}
			p.Report[key] = unescape(value)
		}
	}
	if !proved {
		return Payload{}, ErrNoProof
	}
	return p, nil
}

func stamp(s string) (int64, bool) {
	at, err := strconv.ParseInt(s, 10, 64)
	return at, err == nil && at > 0
}

// unescape undoes the payload's \ooo, but leaves control characters escaped:
// a value stays one line.
func unescape(s string) string {
	return strings.ReplaceAll(s, `\134`, `\`)
}
