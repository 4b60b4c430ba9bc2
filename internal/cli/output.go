package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/common/csvfile"
	"plimsoll/internal/common/safepath"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/report"
)

// pipeWidth is the columns of what is no terminal: those that the tables are
// made for.
const pipeWidth = 100

// style is how a user wants text to be written.
type style struct {
	ascii bool
	csv   csvfile.Options
}

// add adds the flags that fit a command's formats.
func (s *style) add(c *cobra.Command, formats []string) {
	c.Flags().BoolVar(&s.ascii, "ascii", false, "use ASCII characters only")
	rawFlag(c, &s.csv, formats)
}

// rawFlag adds --raw-csv to a command that writes CSV.
func rawFlag(c *cobra.Command, to *csvfile.Options, formats []string) {
	if slices.Contains(formats, "csv") {
		c.Flags().BoolVar(&to.Raw, "raw-csv", false, "csv: write text as it is, without an apostrophe before what a spreadsheet would execute")
	}
}

// looks is how text is to look on standard output.
func looks(w World, st style) report.Options {
	terminal := w.Width() > 0
	o := report.Options{CSV: st.csv, ASCII: st.ascii || terminal && !unicodeHere(w), Width: pipeWidth, Color: color(w)}
	if terminal {
		o.Width = w.Width()
	}
	o.Marks = terminal || o.Color
	return o
}

// wrapped prints a text behind a lead, below which further lines begin: as wide as
// the terminal is, and on one line where there is none.
func (w World) wrapped(lead, text string) {
	lines := []string{text}
	if w.Width != nil && w.Width() > len(lead)+20 {
		lines = document.Wrap(text, w.Width()-len(lead), "")
	}
	for _, l := range lines {
		fmt.Fprintln(w.Stdout, lead+l)
		lead = strings.Repeat(" ", len(lead))
	}
}

// color says whether to colour standard output: NO_COLOR is the user's no, then
// FORCE_COLOR and CLICOLOR_FORCE are a yes; else a terminal is coloured that is
// not dumb.
func color(w World) bool {
	forced := w.Getenv("FORCE_COLOR")
	switch {
	case w.Getenv("NO_COLOR") != "", off(forced):
		return false
	case forced != "":
		return true
	}
	if force := w.Getenv("CLICOLOR_FORCE"); force != "" && !off(force) {
		return true
	}
	return w.Width() > 0 && w.Getenv("TERM") != "dumb" && !off(w.Getenv("CLICOLOR"))
}

func off(s string) bool { return s == "0" || s == "false" }

// unicodeHere says whether the locale is one of UTF-8, by the first of the
// variables that is set: see locale(7). A terminal of no locale at all is taken
// for one of today.
func unicodeHere(w World) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if s := strings.ToLower(w.Getenv(name)); s != "" {
			return strings.Contains(s, "utf-8") || strings.Contains(s, "utf8")
		}
	}
	return true
}

// printing is how a result is printed, and where to.
type printing struct {
	format, output string
	style
}

func (p *printing) add(c *cobra.Command, formats ...string) {
	formatFlag(c, &p.format, formats...)
	c.Flags().StringVarP(&p.output, "output", "o", "", "write to this file instead of standard output")
	completesPaths(c, nil, "output")
	p.style.add(c, formats)
}

func (p *printing) show(w World, write func(io.Writer, report.Options) error) error {
	return show(w, p.output, p.style, write)
}

// show prints what a command gives, or writes it to a file where one is named.
func show(w World, path string, st style, write func(io.Writer, report.Options) error) error {
	if path == "" {
		return wrongWord(write(w.Stdout, looks(w, st)))
	}
	var failed error
	err := writeTo(w, path, func(out io.Writer) error {
		failed = write(out, report.Options{ASCII: st.ascii, CSV: st.csv})
		return failed
	})
	if failed == nil && err != nil {
		return fail(Failed, "writing the output: %w", err)
	}
	return wrongWord(failed)
}

// wrongWord gives an error the status of wrong usage where it is about a word that the
// user named and the run does not have.
func wrongWord(err error) error {
	if _, ok := errors.AsType[*analyze.ChoiceError](err); ok {
		return chosen(err)
	}
	return err
}

// writeTo writes to a file, or to standard output where none is named. A file
// that could not be written whole is taken away again: half a table looks like
// a table. What is no ordinary file, as /dev/stderr or a pipe, is written to as
// it is. Root writes no file that somebody else could have led elsewhere.
func writeTo(w World, path string, write func(io.Writer) error) error {
	if path == "" {
		return write(w.Stdout)
	}
	return writeBy(callerOf(w), path, write)
}

// callerOf is the rule for what the user names, with further trusted users.
func callerOf(w World, trusted ...int) safepath.Rule {
	return safepath.Caller(w.Getenv).With(trusted...)
}

// writeBy is writeTo of a file, by a rule of whom to trust.
func writeBy(rule safepath.Rule, path string, write func(io.Writer) error) error {
	dir, name, err := safepath.OpenParent(path, rule)
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	defer dir.Close()
	if f, err := dir.OpenSpecial(name); err != nil || f != nil {
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	if err := dir.Replaceable(name); err != nil {
		return err
	}
	f, temp, err := dir.Temp(name, 0o666)
	if err != nil {
		return err
	}
	err = errors.Join(write(f), f.Close())
	if err == nil {
		err = dir.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, dir.Remove(temp))
	}
	return nil
}

// tell shows a result of a kind in the format that was asked for.
func tell[T any](w World, p *printing, kind report.Kind[T], x T) error {
	return p.show(w, func(out io.Writer, o report.Options) error { return kind.Write(out, p.format, x, o) })
}
