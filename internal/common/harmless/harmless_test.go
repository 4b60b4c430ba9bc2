package harmless

import (
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"plain  text":                          "plain  text",
		"two\r\nlines\tand a tab":              "two  lines and a tab",
		"\x1b[1;31mred\x1b[0m\x1b]0;title\x07": "red",
		"\x1bcreset \x1b(Bset":                 "reset set",
		"eight bits: \u009b31m":                "eight bits:  31m",
		"not UTF-8: \x9b\xff.":                 "not UTF-8: \uFFFD.",
		"right\u202eleft\u200b\ue000":          "rightleft",
	} {
		if got := Text(in); got != want {
			t.Errorf("%q becomes %q, not %q", in, got, want)
		}
	}
	if n := len(Text(strings.Repeat("x", 1<<20))); n != most {
		t.Errorf("%d bytes are left", n)
	}
}
