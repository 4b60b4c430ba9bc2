package cli

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// TestReadable: on a terminal whose locale is not UTF-8 neither tables nor help nor
// complaints have a sign beyond ASCII; a pipe gets all of them.
func TestReadable(t *testing.T) {
	env := map[string]string{"LC_ALL": "C"}
	for _, args := range [][]string{{"ab", "--help"}, {"run", "--help"}, {"tune", "--help"}, {"studies"}, {"report", "näh"}} {
		for _, width := range []int{80, 0} {
			var out, errs bytes.Buffer
			Main(World{
				Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: func(n string) string { return env[n] },
				Width: func() int { return width }, ErrTerminal: width > 0,
			})
			if text := out.String() + errs.String(); (width > 0) != ascii(text) {
				t.Errorf("%q, %d columns:\n%s", args, width, text)
			}
		}
	}
}

// A sign that two writes share is still one, and what was written is all of it.
func TestASCIIWriter(t *testing.T) {
	var b bytes.Buffer
	w := &asciiWriter{to: &b}
	for _, c := range []byte("± 2 % … Ärleskog\n") {
		if n, err := w.Write([]byte{c}); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	if got := b.String(); got != "~ 2 % . Arleskog\n" {
		t.Errorf("%q", got)
	}
	b.Reset()
	if _, err := io.WriteString(w, "an \xff that is no text\n"); err != nil || b.String() != "an ? that is no text\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
}

func ascii(s string) bool {
	for _, r := range s {
		if r > 127 {
			return false
		}
	}
	return true
}
