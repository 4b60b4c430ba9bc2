package yamlfile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"plimsoll/internal/common/lists"
)

// MaxErrors bounds how many errors are kept of one file; the rest is counted.
const MaxErrors = 10

// Error is one thing that is wrong with a file, with its place.
type Error struct {
	Path string
	// Line and Column count from 1; 0 where the file as a whole is meant.
	Line, Column int
	// What was wrong and, where it can be said, what was expected.
	What, Expected string
	// Suggestion is the nearest valid word, where one is near.
	Suggestion string
	// Err is why a file can't be read; nil where the text is wrong.
	Err error
}

// Unwrap returns why the file can't be read.
func (e *Error) Unwrap() error { return e.Err }

// Error gives the one line that a user sees: file:line:column: what was
// wrong, what was expected; did you mean "x"?
func (e *Error) Error() string {
	var b strings.Builder
	if e.Path != "" {
		b.WriteString(e.Path)
		if e.Line > 0 {
			fmt.Fprintf(&b, ":%d:%d", e.Line, e.Column)
		}
		b.WriteString(": ")
	}
	b.WriteString(e.What)
	if e.Expected != "" {
		b.WriteString(", expected " + e.Expected)
	}
	if e.Suggestion != "" {
		fmt.Fprintf(&b, "; did you mean %q?", e.Suggestion)
	}
	return b.String()
}

// Errors is everything that is wrong with a file, in the order of its lines.
// Whatever this package says against a file is of this type.
type Errors struct {
	List []*Error
	// More counts further errors that were not kept.
	More int
}

// Error gives one line for each error.
func (e *Errors) Error() string {
	lines := make([]string, 0, len(e.List)+1)
	for _, one := range e.List {
		lines = append(lines, one.Error())
	}
	if e.More > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", e.More))
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the errors one by one, for errors.As.
func (e *Errors) Unwrap() []error {
	return lists.Map(e.List, func(one *Error) error { return one })
}

// Pos is a place in a file.
type Pos struct {
	Path         string
	Line, Column int
}

// Given says whether the file has what the place belongs to.
func (p Pos) Given() bool { return p.Line > 0 }

// Problems collects errors.
type Problems struct {
	list []*Error
	more int
}

// Add adds one error, which the caller may complete.
func (p *Problems) Add(at Pos, what, expected string) *Error {
	e := &Error{Path: at.Path, Line: at.Line, Column: at.Column, What: what, Expected: expected}
	if len(p.list) >= MaxErrors {
		p.more++
		return e
	}
	p.list = append(p.list, e)
	return e
}

// Unknown adds that a word is none of the valid ones.
func (p *Problems) Unknown(at Pos, kind, word string, valid []string) {
	if len(p.list) >= MaxErrors {
		p.more++
		return
	}
	e := p.Add(at, fmt.Sprintf("unknown %s %s", kind, Quote(word)), OneOf(valid))
	e.Suggestion = Nearest(word, valid)
}

// Join adds the errors of another file that was read on the way.
func (p *Problems) Join(err error) {
	var es *Errors
	if !errors.As(err, &es) {
		p.Add(Pos{}, err.Error(), "")
		return
	}
	for _, e := range es.List {
		if len(p.list) >= MaxErrors {
			p.more++
			continue
		}
		p.list = append(p.list, e)
	}
	p.more += es.More
}

// Any says whether something is wrong.
func (p *Problems) Any() bool { return len(p.list) > 0 }

// Count says how many things are wrong.
func (p *Problems) Count() int { return len(p.list) + p.more }

// Err gives all errors in the order of the places, or nil.
func (p *Problems) Err() error {
	if !p.Any() {
		return nil
	}
	rank := map[string]int{}
	for _, e := range p.list {
		if _, ok := rank[e.Path]; !ok {
			rank[e.Path] = len(rank)
		}
	}
	slices.SortStableFunc(p.list, func(a, b *Error) int {
		return cmp.Or(rank[a.Path]-rank[b.Path], a.Line-b.Line, a.Column-b.Column)
	})
	return &Errors{List: p.list, More: p.more}
}

// CantRead is the error of a file that can't be read; what names it, such as "the study".
// The path stands in front: of an error of the file system only the cause is printed.
func CantRead(path, what string, err error) error {
	return &Errors{List: []*Error{{Path: path, What: "can't read " + what + ": " + Reason(err), Err: err}}}
}

// Reason is the text of an error of the file system without the path.
func Reason(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}

// Fail makes an error about a file as a whole.
func Fail(path, what, expected string) error {
	return &Errors{List: []*Error{{Path: path, What: what, Expected: expected}}}
}

// Quote shows a piece of the file safely: escaped and cut.
func Quote(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return fmt.Sprintf("%q…", string(r[:most]))
	}
	return fmt.Sprintf("%q", s)
}

// OneOf names the valid words, cut where they are very many.
func OneOf(words []string) string {
	const most = 20
	switch {
	case len(words) == 0:
		return ""
	case len(words) == 1:
		return words[0]
	case len(words) > most:
		return fmt.Sprintf("one of %s … (%d in all)", strings.Join(words[:most], ", "), len(words))
	}
	return "one of " + strings.Join(words, ", ")
}
