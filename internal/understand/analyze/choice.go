package analyze

import (
	"fmt"
	"strings"

	"plimsoll/internal/common/lists"
)

// ChoiceError is a word that the compared runs do not have.
type ChoiceError struct {
	What, Word string
	Known      []string
}

// Error names the words that there are, or those that a short name may stand for.
func (e *ChoiceError) Error() string {
	known := e.Known
	more := ""
	if strings.Contains(e.Word, ellipsis) {
		if fit := lists.Filter(known, func(id string) bool { return abbreviates(e.Word, id) }); len(fit) > 1 {
			return fmt.Sprintf("the %s %q may be each of several: %s", e.What, e.Word, strings.Join(fit, ", "))
		}
	}
	if len(known) > 20 {
		known, more = known[:20], " …"
	}
	return fmt.Sprintf("no %s %q: there is %s%s", e.What, e.Word, strings.Join(known, ", "), more)
}
