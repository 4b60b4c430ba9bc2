package analyze

import (
	"fmt"
	"strings"
)

// ChoiceError is a word that the compared runs do not have.
type ChoiceError struct {
	What, Word string
	Known      []string
}

// Error names the words that there are.
func (e *ChoiceError) Error() string {
	known := e.Known
	more := ""
	if len(known) > 20 {
		known, more = known[:20], " …"
	}
	return fmt.Sprintf("no %s %q: there is %s%s", e.What, e.Word, strings.Join(known, ", "), more)
}
