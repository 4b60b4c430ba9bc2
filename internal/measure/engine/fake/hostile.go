package fake

import "bytes"

// hostileLine has what harms a terminal (escape sequences of seven and of eight
// bits, a changed title, a bell, text from right to left), a page (markup) and a
// parser (invalid UTF-8, NUL).
const hostileLine = "\x1b[2J\x1b]0;owned\x07\x9b31m</td><script>alert(1)</script>|`x`\u202e\xff\xfe\x00\r"

// hostileBytes is how much such a container prints, without an end of line.
const hostileBytes = 100 << 20

// defaultOutput is what is kept of a stream where the task does not say.
const defaultOutput = 64 << 10

// hostileOutput is what is kept of it, as of a real container's.
func hostileOutput(limit int) []byte {
	if limit <= 0 {
		limit = defaultOutput
	}
	limit = min(limit, hostileBytes)
	return bytes.Repeat([]byte(hostileLine), limit/len(hostileLine)+1)[:limit]
}
