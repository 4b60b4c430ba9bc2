package features

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/record"
)

// The limits of an attempt and of one of its commands, before child.Stretch.
const (
	attemptLimit = 90 * time.Second
	commandLimit = 45 * time.Second
)

// try is one attempt under way. Its steps end it by themselves where they can
// go no further, as testing.T.Fatal does.
type try struct {
	ctx      context.Context
	b        *bench
	dir      string // its own, removed afterwards
	evidence []record.FeatureEvidence
	undo     []func(context.Context)
}

// ended carries a verdict out of an attempt.
type ended struct {
	value record.FeatureValue
	why   string
	// lacking is what this machine lacks to try the rest.
	lacking string
}

func (t *try) end(v record.FeatureValue, format string, a ...any) {
	panic(ended{value: v, why: fmt.Sprintf(format, a...)})
}

func (t *try) partial(format string, a ...any) { t.end(record.FeaturePartial, format, a...) }
func (t *try) no(format string, a ...any)      { t.end(record.FeatureNo, format, a...) }
func (t *try) untried(format string, a ...any) { t.end(record.FeatureUntried, format, a...) }

// partialFor ends with the part that was seen, where this machine lacks what would tell the
// rest: an engine that does it all would have come no further.
func (t *try) partialFor(lacking, format string, a ...any) {
	panic(ended{record.FeaturePartial, fmt.Sprintf(format, a...), lacking})
}

// need ends the attempt where doing what it needs has failed.
func (t *try) need(doing string, err error) {
	if err != nil {
		t.untried("%s: %v", doing, err)
	}
}

// yes ends with what was seen, where that needs a word.
func (t *try) yes(why string) { t.end(record.FeatureYes, "%s", why) }

// later takes something away when the attempt has ended, the last thing first.
func (t *try) later(f func(context.Context)) { t.undo = append(t.undo, f) }

// clean removes something by the engine when the attempt has ended. What can't
// be removed is found by the sweep at the end.
func (t *try) clean(argv []string) {
	b := t.b
	t.later(func(ctx context.Context) { b.command(ctx, b.env, nil, argv) })
}

// cleanAll is clean for several commands, in their order.
func (t *try) cleanAll(all [][]string) {
	for _, argv := range slices.Backward(all) {
		t.clean(argv)
	}
}

// observe keeps what was seen beside the engine's own commands.
func (t *try) observe(format string, a ...any) {
	t.evidence = append(t.evidence, record.FeatureEvidence{Output: fmt.Sprintf(format, a...)})
}

// run carries a command out, whatever comes of it.
func (t *try) run(argv ...string) said { return t.runAs(t.b.env, nil, argv...) }

// hear runs a program that prints something in a container that runs. Daemons
// lose the output of a short program now and then: it is asked again, twice.
func (t *try) hear(env []string, argv ...string) said {
	s := t.runAs(env, nil, argv...)
	for i := 0; i < 2 && s.status == 0 && s.all() == ""; i++ {
		s = t.runAs(env, nil, argv...)
	}
	return s
}

func (t *try) runAs(env []string, as *credential, argv ...string) said {
	s := t.b.command(t.ctx, env, as, argv)
	t.evidence = append(t.evidence, evidence(argv, s))
	t.need(argv[0], s.err)
	return s
}

// evidence is a command with what came of it.
func evidence(argv []string, s said) record.FeatureEvidence {
	return record.FeatureEvidence{Command: argv, Output: s.trimmed(), Status: s.status}
}

// must carries a command out that prepares: without it nothing can be told.
func (t *try) must(argv ...string) string {
	s := t.run(argv...)
	if s.status != 0 {
		t.untried("preparing the attempt failed: %s", t.plain(s))
	}
	return s.out
}

// asked carries out the command that is the feature.
func (t *try) asked(argv ...string) { t.judge(t.run(argv...)) }

// judge ends the attempt where a command failed. That is a no only where the
// engine does not know the command or the option: whatever else went wrong may
// be this machine's fault, or ours.
func (t *try) judge(s said) {
	switch {
	case s.status == 0:
	case unknownOption(s):
		t.no("it knows no such command or option: %s", t.plain(s))
	default:
		t.untried("it failed here: %s", t.plain(s))
	}
}

// refuses carries out a command that an engine without the feature refuses,
// in one of these words; it goes on where the engine did not.
func (t *try) refuses(words []string, argv ...string) {
	s := t.run(argv...)
	if s.status != 0 && s.holds(words...) {
		t.no("refused: %s", t.plain(s))
	}
	t.judge(s)
}

// lacks is the verdict on what an engine has no command or option for: its own
// help is the evidence. A version whose help does name it is one that nobody
// has written the attempt for.
func lacks(why string, words []string, help ...string) attempt {
	return func(t *try) {
		s := t.run(t.b.hand.argv(help)...)
		if low := strings.ToLower(s.all()); len(strings.Fields(low)) > 20 {
			for _, w := range words {
				if strings.Contains(low, w) {
					t.untried("its help names %q, for which no attempt is written", w)
				}
			}
			t.no("%s", why)
		}
		t.untried("its help could not be read: %s", t.plain(s))
	}
}

// unknownOption says whether a command or an option was refused by its name.
func unknownOption(s said) bool {
	return s.status != 0 && s.holds("unknown flag", "unknown shorthand flag", "unrecognized option", "unrecognized argument", "flag provided but not defined",
		"unknown command", "no help topic", "is not a docker command", "is not an apptainer command", "unrecognised", "invalid choice")
}

var (
	hexID   = regexp.MustCompile(`\b[0-9a-f]{12,64}\b`)
	address = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	tempDir = regexp.MustCompile(`/(tmp|var/tmp)/[^\s:"']+`)
	numbers = regexp.MustCompile(`\[\d+\]`)
)

// plain is what an engine said, without what is another in each run.
func (t *try) plain(s said) string {
	text := adapter.Words([]byte(s.errs))
	if len(text) < 4 { // nothing, or the mark below what is wrong
		text = adapter.Words([]byte(firstError(s.errs) + "\n" + s.out))
	}
	if text == "" {
		return fmt.Sprintf("status %d, without a word", s.status)
	}
	text = strings.ReplaceAll(text, t.dir, "DIR")
	text = strings.ReplaceAll(text, t.b.kit.Dir, "DIR")
	text = strings.ReplaceAll(text, t.b.kit.RunID, "RUN")
	text = address.ReplaceAllString(text, "REGISTRY")
	text = tempDir.ReplaceAllString(text, "/$1/…")
	text = numbers.ReplaceAllString(text, "")
	return hexID.ReplaceAllString(text, "ID")
}

// firstError is the first line that says so.
func firstError(text string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(strings.ToLower(line), "error") {
			return line
		}
	}
	return ""
}

// holds says whether any of the words, in small letters, was said.
func (s said) holds(words ...string) bool {
	low := strings.ToLower(s.all())
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(low, w) })
}
