// Package document is what a report says before it is written in a format:
// headings, paragraphs, tables and lists, in reading order. Text for a
// terminal, Markdown, LaTeX and the tables of a page are written from it.
//
// It is opinionated: a document is made for a medium, since what there is room
// for decides on what is said; how it is said is the writer's alone. No text in
// it is markup: each writer makes what it writes stand for itself.
//
// Why it is so: docs/decisions/reports.md.
package document

import (
	"bufio"
	"io"
)

// Medium is what a document is made for.
type Medium int

// The media.
const (
	Text     Medium = iota // a page of fixed width: a terminal
	Markdown               // as code forges render it
	LaTeX                  // tables for a paper
)

// Document is a list of blocks for a medium.
type Document struct {
	Medium Medium
	// Width is that of the page in characters, Color says whether it has ANSI
	// colours, and ASCII whether nothing beyond ASCII is written (text only).
	Width        int
	Color, ASCII bool
	Blocks       []Block
}

// Block is a Heading, Para, *Table, List, Gap or Comment.
type Block interface{ isBlock() }

func (Heading) isBlock() {}
func (Para) isBlock()    {}
func (*Table) isBlock()  {}
func (List) isBlock()    {}
func (Gap) isBlock()     {}
func (Comment) isBlock() {}

// Heading is a title of a level from 1 on; of level 0 it is none of the outline.
type Heading struct {
	Level int
	Text  string
	// Inner: text sets it apart by its indent alone.
	Inner bool
}

// Para is a paragraph. Text begins it with Lead, and sets its further lines
// below what follows that.
type Para struct {
	Text Line
	Lead string
	Tone Tone
	// Tight: Markdown writes it on the line below the block before.
	Tight bool
	// Command: it is to be pasted. Text breaks it between the words of a shell, which
	// takes its lines for one.
	Command bool
}

// List is a list of items, which text begins with Lead, or with their numbers.
type List struct {
	Items    []Item
	Lead     string
	Numbered bool
	// Marked: text leaves room for the marks, whether an item has one or not.
	Marked bool
}

// Item is one line of a list.
type Item struct {
	// Mark stands before the text: + or − where it speaks for or against
	// something, Do where it says what to do.
	Mark string
	Text Line
	Tone Tone
	// Advice is what to do about it.
	Advice Advice
	// Below are lines that belong to it.
	Below []string
}

// Do marks an item that says what to do.
const Do = "→"

// Advice is a sentence, or a command to copy; Fix says that Markdown names it so.
type Advice struct {
	Text    string
	Command bool
	Fix     bool
}

// Gap is a blank line more than the medium's blocks have between them.
type Gap struct{}

// Comment is a line that only whoever reads the source sees (LaTeX only).
type Comment struct{ Text string }

// Tone is how a piece of text shows on a terminal. Nothing is said by it alone.
type Tone string

// The tones.
const (
	Plain Tone = ""
	Head  Tone = "head"
	Dim   Tone = "dim"
	Warn  Tone = "warn"
	Mark  Tone = "mark"
)

// Line is a text of which parts may be set off.
type Line []Span

// Span is a part of a line.
type Span struct {
	Text  string
	Style Style
}

// Style is how Markdown sets a span off; text does not.
type Style int

// The styles.
const (
	Normal Style = iota
	Strong
	Slanted
	Code
)

// Say is a line without anything set off.
func Say(s string) Line { return Line{{Text: s}} }

// Of is a line of a span in a style, and of more text.
func Of(style Style, s, more string) Line { return Line{{s, style}, {Text: more}} }

// String is the line's text alone.
func (l Line) String() string {
	s := ""
	for _, p := range l {
		s += p.Text
	}
	return s
}

// Items are items of plain text.
func Items(lines []string) []Item {
	out := make([]Item, len(lines))
	for i, l := range lines {
		out[i].Text = Say(l)
	}
	return out
}

// Add appends blocks.
func (d *Document) Add(blocks ...Block) { d.Blocks = append(d.Blocks, blocks...) }

// Heading appends a title.
func (d *Document) Heading(level int, text string) { d.Add(Heading{Level: level, Text: text}) }

// Para appends a paragraph.
func (d *Document) Para(text string) { d.Add(Para{Text: Say(text)}) }

// Legend appends paragraphs that explain what stands above them.
func (d *Document) Legend(texts ...string) {
	for _, text := range texts {
		d.Add(Para{Text: Say(text), Tone: Dim})
	}
}

// Led appends a paragraph that text begins with a lead.
func (d *Document) Led(lead, text string, tone Tone) {
	d.Add(Para{Text: Say(text), Lead: lead, Tone: tone})
}

// List appends a list, unless it is empty.
func (d *Document) List(lead string, items []Item) {
	if len(items) > 0 {
		d.Add(List{Items: items, Lead: lead})
	}
}

// Gap appends a blank line where the document is for this medium.
func (d *Document) Gap(in Medium) {
	if d.Medium == in {
		d.Add(Gap{})
	}
}

// Comment appends a comment where the medium has any.
func (d *Document) Comment(text string) {
	if d.Medium == LaTeX {
		d.Add(Comment{text})
	}
}

// Write writes the document for its medium.
func (d *Document) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	switch d.Medium {
	case Markdown:
		writeMarkdown(out, d)
	case LaTeX:
		writeLaTeX(out, d)
	default:
		writeText(out, d)
	}
	return out.Flush()
}
