// Package csvfile writes tables as CSV that a spreadsheet can open: text that it would
// execute as a formula gets an apostrophe in front.
package csvfile

import (
	"encoding/csv"
	"io"
	"regexp"
	"strings"

	"plimsoll/internal/common/lists"
)

// Options are how a table is written; the zero value is for spreadsheets.
type Options struct {
	// Raw leaves text as it is, for programs that are no spreadsheets.
	Raw bool
}

// WriteAll writes all rows.
func (o Options) WriteAll(w io.Writer, rows [][]string) error {
	out := o.NewWriter(w)
	for _, row := range rows {
		if err := out.Write(row); err != nil {
			return err
		}
	}
	return out.Flush()
}

// Writer writes one row after the other.
type Writer struct {
	to  *csv.Writer
	raw bool
}

// NewWriter returns a Writer to w.
func (o Options) NewWriter(w io.Writer) *Writer { return &Writer{csv.NewWriter(w), o.Raw} }

// Write writes a row.
func (w *Writer) Write(row []string) error {
	if !w.raw {
		row = lists.Map(row, Quote)
	}
	return w.to.Write(row)
}

// Flush writes what is still held back, and returns the first error of all writes.
func (w *Writer) Flush() error {
	w.to.Flush()
	return w.to.Error()
}

// number is what a spreadsheet, and whatever reads CSV, takes for a number.
var number = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)

// Quote returns a cell with an apostrophe in front if a spreadsheet would take its text
// for a formula: it begins with = + - @ (also in full width), a tab or another control
// character, and is not a number (OWASP, CSV injection). So does text in which only
// apostrophes stand before such a character: taking off the first one gives the text back.
func Quote(cell string) string {
	text := strings.TrimLeft(cell, "'")
	if text == "" || text == cell && number.MatchString(cell) {
		return cell
	}
	r := []rune(text[:min(len(text), 4)])[0]
	if r < ' ' || r == 0x7f || strings.ContainsRune("=+-@＝＋－＠−", r) {
		return "'" + cell
	}
	return cell
}
