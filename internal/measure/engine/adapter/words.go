package adapter

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"plimsoll/internal/record"
)

// Pattern is a piece of an engine's message that tells the class of failure.
type Pattern struct {
	Text  string // lower case
	Class record.Class
}

// common are the pieces of messages that mean the same with every engine.
var common = []Pattern{
	{"no such image", record.Unavailable},
	{"image not known", record.Unavailable},
	{"unable to find image", record.Unavailable},
	{"cannot connect to", record.Unavailable},
	{"connection refused", record.Unavailable},
	{"daemon running?", record.Unavailable},
	{"out of memory", record.OutOfMemory},
	{"oom-kill", record.OutOfMemory},
	{"not supported", record.Unsupported},
	{"unsupported", record.Unsupported},
	{"not implemented", record.Unsupported},
	{"unknown flag", record.Unsupported},
	{"unknown option", record.Unsupported},
	{"unrecognized option", record.Unsupported},
	{"flag provided but not defined", record.Unsupported},
	{"unknown shorthand flag", record.Unsupported},
}

// Classify tells the class of an engine's message: the first of the engine's
// own patterns that it holds, then the common ones, else record.EngineError.
func Classify(said string, own []Pattern) record.Class {
	low := strings.ToLower(said)
	for _, list := range [][]Pattern{own, common} {
		for _, p := range list {
			if strings.Contains(low, p.Text) {
				return p.Class
			}
		}
	}
	return record.EngineError
}

// maxWords bounds what is quoted of an engine's message, in bytes.
const maxWords = 400

var (
	ansi    = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")
	logrus  = regexp.MustCompile(`level=(\w+) msg=("(?:[^"\\]|\\.)*"|\S+)`)
	prefix  = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\S+Z?:? ?`)
	chatter = regexp.MustCompile(`(?i)^(see '|hint:|usage:|run '|info:|debug:|warn(ing)?[:\[ ]|goroutine \d|note:)`)
)

// Words finds what an engine said: the last line of its messages that means
// something, without time stamps, colours and hints to read the manual.
func Words(stderr []byte) string {
	lines := strings.Split(strings.ToValidUTF8(string(stderr), "?"), "\n")
	fallback := ""
	for i := len(lines) - 1; i >= 0; i-- {
		text, weak := meaning(lines[i])
		if text == "" {
			continue
		}
		if len(text) > maxWords {
			text = text[:maxWords] + "…"
		}
		if !weak {
			return text
		}
		fallback = cmp.Or(fallback, text)
	}
	return fallback
}

// meaning strips a line to its message; weak says that it is a warning or a
// hint, to be quoted only where there is nothing better.
func meaning(line string) (text string, weak bool) {
	line = strings.TrimSpace(ansi.ReplaceAllString(line, ""))
	if strings.HasPrefix(line, "{") {
		var log struct{ Level, Msg string }
		if json.Unmarshal([]byte(line), &log) == nil && log.Msg != "" {
			return log.Msg, log.Level != "error" && log.Level != "fatal"
		}
	}
	if m := logrus.FindStringSubmatch(line); m != nil {
		msg := m[2]
		if s, err := strconv.Unquote(msg); err == nil {
			msg = s
		}
		return strings.TrimSpace(msg), m[1] != "error" && m[1] != "fatal"
	}
	line = prefix.ReplaceAllString(line, "")
	return line, chatter.MatchString(line)
}
