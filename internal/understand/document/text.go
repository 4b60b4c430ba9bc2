package document

import (
	"bufio"
	"fmt"
	"strings"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/understand/words"
)

// page writes lines of fixed width.
type page struct {
	*Document
	out *bufio.Writer
}

// The tones as ANSI sequences. Blue and orange are told apart with any kind of
// colour vision, these two are legible on black and on white.
var sequences = map[Tone]string{Head: "\x1b[1m", Dim: "\x1b[2m", Warn: "\x1b[38;5;166m", Mark: "\x1b[38;5;33m"}

func writeText(out *bufio.Writer, d *Document) {
	p := page{d, out}
	for i, b := range d.Blocks {
		switch b := b.(type) {
		case Heading:
			switch {
			case b.Inner:
				p.para("  ", b.Text, Plain)
				continue
			case i > 0:
				p.blank()
			}
			p.para("", b.Text, Head)
		case Para:
			if b.Command {
				p.command(b.Lead, b.Text.String(), b.Tone)
				continue
			}
			p.para(b.Lead, b.Text.String(), b.Tone)
		case *Table:
			p.table(b)
		case List:
			p.list(b)
		case Gap:
			p.blank()
		}
	}
}

func (p page) toned(tone Tone, s string) string {
	if p.ASCII {
		s = words.ASCII(s)
	}
	if code := sequences[tone]; code != "" && p.Color && s != "" {
		return code + s + "\x1b[0m"
	}
	return s
}

func (p page) blank() { fmt.Fprintln(p.out) }

func (p page) para(lead, s string, tone Tone) {
	indent := strings.Repeat(" ", words.Width(lead))
	for i, l := range Wrap(s, p.Width-words.Width(lead), "") {
		if i == 0 {
			l = lead + l
		} else {
			l = indent + l
		}
		fmt.Fprintln(p.out, p.toned(tone, l))
	}
}

// command writes a command behind its lead, on as many lines as it needs.
func (p page) command(lead, s string, tone Tone) {
	room, line := p.Width-words.Width(lead), ""
	if words.Width(s) <= room {
		fmt.Fprintln(p.out, p.toned(tone, lead+s))
		return
	}
	for _, word := range harmless.ShellWords(s) {
		if line != "" && words.Width(line+" "+word) > room-2 {
			fmt.Fprintln(p.out, p.toned(tone, lead+line+" \\"))
			lead, line = strings.Repeat(" ", words.Width(lead)), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	fmt.Fprintln(p.out, p.toned(tone, lead+line))
}

// list writes items. What is to be done about one stands below it, by an arrow.
func (p page) list(l List) {
	for i, m := range l.Items {
		lead := l.Lead
		switch {
		case l.Numbered:
			lead = fmt.Sprintf("%2d ", i+1)
		case l.Marked:
			lead += Pad(m.Mark, 1, false) + " "
		}
		indent := strings.Repeat(" ", words.Width(lead))
		p.para(lead, m.Text.String(), m.Tone)
		for _, s := range m.Below {
			p.para(indent+"   ", s, Dim)
		}
		if m.Advice.Text != "" {
			p.para(indent+Do+" ", m.Advice.Text, Dim)
		}
	}
}
