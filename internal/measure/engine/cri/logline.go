package cri

import (
	"bytes"
	"io"
)

// logParser takes a container's log file apart, in the format of the CRI:
//
//	2016-10-06T00:17:09.669794202Z stdout F content
//
// time, stream and tags are parted by one blank each; tags are parted by
// colons, and the first is P for a part of a line that goes on in the next
// record of the stream, or F for its end, after which a newline belongs to the
// output.
// https://github.com/kubernetes/design-proposals-archive/blob/main/node/kubelet-cri-logging.md
//
// It may be fed with torn pieces of any size, and keeps no more than the head
// of a record, however long a line is. That the output's last line had no
// newline does not stand in the format: there is one afterwards.
type logParser struct {
	stdout, stderr io.Writer
	// Malformed counts the lines that were no record.
	Malformed int

	head    []byte // of the record that is being read, up to its content
	blanks  int    // of head
	into    io.Writer
	partial bool
	state   parserState
}

type parserState int

const (
	inHead parserState = iota
	inContent
	inJunk // until the next newline
)

// maxHead is more than a time, a stream and tags ever take, in bytes.
const maxHead = 160

var newline = []byte{'\n'}

// Write never fails.
func (p *logParser) Write(data []byte) (int, error) {
	n := len(data)
	for len(data) > 0 {
		switch p.state {
		case inHead:
			data = p.readHead(data)
		case inContent:
			data = p.readContent(data)
		case inJunk:
			i := bytes.IndexByte(data, '\n')
			if i < 0 {
				return n, nil
			}
			data = data[i+1:]
			p.begin()
		}
	}
	return n, nil
}

// End is the end of the file, for ever: what is torn then stays torn.
func (p *logParser) End() {
	if p.state == inHead && len(p.head) > 0 {
		p.Malformed++
	}
	p.begin()
}

func (p *logParser) begin() {
	p.head, p.blanks, p.state, p.into = p.head[:0], 0, inHead, nil
}

func (p *logParser) readHead(data []byte) []byte {
	for i, c := range data {
		if c == '\n' {
			// A record without content may lack the blank before it.
			p.head = append(p.head, ' ')
			if p.blanks++; p.blanks != 3 || !p.understand() {
				p.Malformed++
			} else if !p.partial {
				_, _ = p.into.Write(newline)
			}
			p.begin()
			return data[i+1:]
		}
		p.head = append(p.head, c)
		if c == ' ' {
			p.blanks++
		}
		switch {
		case p.blanks == 3:
			if p.understand() {
				p.state = inContent
			} else {
				p.Malformed++
				p.state = inJunk
			}
			return data[i+1:]
		case len(p.head) > maxHead:
			p.Malformed++
			p.state = inJunk
			return data[i+1:]
		}
	}
	return nil
}

func (p *logParser) readContent(data []byte) []byte {
	i := bytes.IndexByte(data, '\n')
	if i < 0 {
		_, _ = p.into.Write(data)
		return nil
	}
	end := i
	if !p.partial {
		end++ // with its newline
	}
	if end > 0 {
		_, _ = p.into.Write(data[:end])
	}
	p.begin()
	return data[i+1:]
}

// understand reads the head, which has three blanks.
func (p *logParser) understand() bool {
	var field [3][]byte
	rest := p.head
	for i := range field {
		j := bytes.IndexByte(rest, ' ')
		field[i], rest = rest[:j], rest[j+1:]
	}
	if !looksLikeTime(field[0]) {
		return false
	}
	switch string(field[1]) {
	case "stdout":
		p.into = p.stdout
	case "stderr":
		p.into = p.stderr
	default:
		return false
	}
	tag := field[2]
	if i := bytes.IndexByte(tag, ':'); i >= 0 {
		tag = tag[:i]
	}
	switch string(tag) {
	case "P":
		p.partial = true
	case "F":
		p.partial = false
	default:
		return false
	}
	return true
}

// looksLikeTime says whether this can be a time as RFC 3339 has it. The time
// itself is the server's wall clock, and is not used.
func looksLikeTime(b []byte) bool {
	return len(b) >= len("2006-01-02T15:04:05Z") && b[4] == '-' && b[7] == '-' && b[10] == 'T' && b[13] == ':' && b[16] == ':'
}
