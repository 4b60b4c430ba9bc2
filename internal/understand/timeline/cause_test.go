package timeline

import (
	"strings"
	"testing"
)

// TestNamesAreReached: of each list the first function that is on a stack decides, so that
// none may begin like one before it: it would never be named.
func TestNamesAreReached(t *testing.T) {
	for list, all := range map[string][]mechanism{"waits": waits, "purposes": purposes, "meetings": meetings, "enders": enders} {
		for i, m := range all {
			for _, before := range all[:i] {
				if strings.HasPrefix(m.function, before.function) && m.text != before.text {
					t.Errorf("%s: %s is told as %q, the name of %s, and never as %q", list, m.function, before.text, before.function, m.text)
				}
			}
		}
	}
}
