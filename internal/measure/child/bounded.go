package child

import (
	"bytes"
	"strings"
)

// head keeps the beginning of what is written to it.
type head struct {
	room int
	kept []byte
	over bool
}

func (h *head) Write(b []byte) (int, error) {
	n := min(len(b), h.room-len(h.kept))
	h.kept = append(h.kept, b[:n]...)
	h.over = h.over || n < len(b)
	return len(b), nil
}

// maxSaid is how much of the end of standard error is kept, bytes.
const maxSaid = 64 << 10

// tail keeps the end of what is written to it.
type tail struct{ kept []byte }

func (t *tail) Write(b []byte) (int, error) {
	t.kept = append(t.kept, b...)
	if len(t.kept) > 2*maxSaid {
		t.kept = append(t.kept[:0], t.kept[len(t.kept)-maxSaid:]...)
	}
	return len(b), nil
}

func (t *tail) bytes() []byte { return t.kept[max(0, len(t.kept)-maxSaid):] }

// last is the last line, short enough for a message.
func (t *tail) last() string {
	const most = 200
	text := bytes.TrimSpace(t.kept)
	line := strings.ToValidUTF8(string(text[bytes.LastIndexByte(text, '\n')+1:]), "?")
	if r := []rune(line); len(r) > most {
		line = string(r[:most]) + "…"
	}
	return line
}
