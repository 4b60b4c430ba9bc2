package page

import (
	"strings"
	"testing"

	"plimsoll/internal/understand/timeline"
)

func TestLanesOfNothing(t *testing.T) {
	var b strings.Builder
	if err := WriteLanes(&b, &timeline.Explanation{Lacks: "root"}); err == nil || b.Len() > 0 {
		t.Errorf("%v: %s", err, b.String())
	}
}
