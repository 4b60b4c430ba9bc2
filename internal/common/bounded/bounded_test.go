package bounded

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestRead: what is as long as it may be comes whole, what is longer not at all, and no
// more of it is read than shows that.
func TestRead(t *testing.T) {
	for text, want := range map[string]string{"": "", "1234": "1234", "12345": "", "123456789": ""} {
		from := strings.NewReader(text)
		got, err := Read(from, 4, "no list of so many")
		if string(got) != want {
			t.Errorf("%q became %q", text, got)
		}
		if long := len(text) > 4; long != (err != nil) || long && (got != nil || err.Error() != "no list of so many") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
		if read := len(text) - from.Len(); read > 5 {
			t.Errorf("%q: %d bytes were read of it", text, read)
		}
	}
	broken := errors.New("broken")
	if got, err := Read(io.MultiReader(strings.NewReader("12"), iotest.ErrReader(broken)), 4, "too long"); got != nil || !errors.Is(err, broken) {
		t.Errorf("what breaks off: %q, %v", got, err)
	}
}
