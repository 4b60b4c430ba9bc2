package workload

import (
	"errors"
	"strings"
)

// Arguments hold references: ${parameter}, or ${role.address}. $${ stands for
// the two characters ${ themselves.

const (
	addressOf = ".address"
	open      = "${"
	escaped   = "$${"
)

var errOpen = errors.New(`"${" is never closed`)

// expand replaces each reference by what replace gives for its name; with keep,
// a reference that replace does not know stays, and so does $${.
func expand(text string, keep bool, replace func(name string) (string, bool)) (string, error) {
	var b strings.Builder
	for {
		i := strings.Index(text, open)
		if i < 0 {
			b.WriteString(text)
			return b.String(), nil
		}
		if i > 0 && text[i-1] == '$' {
			b.WriteString(text[:i-1])
			if keep {
				b.WriteString(escaped)
			} else {
				b.WriteString(open)
			}
			text = text[i+len(open):]
			continue
		}
		b.WriteString(text[:i])
		name, rest, ok := strings.Cut(text[i+len(open):], "}")
		if !ok {
			return "", errOpen
		}
		switch value, known := replace(name); {
		case known:
			b.WriteString(value)
		case keep:
			b.WriteString(open + name + "}")
		default:
			return "", errors.New("nobody knows ${" + name + "}")
		}
		text = rest
	}
}

// references lists the names that a text refers to.
func references(text string) ([]string, error) {
	var names []string
	_, err := expand(text, true, func(name string) (string, bool) {
		names = append(names, name)
		return "", true
	})
	return names, err
}

// cutAddress gives the role of role.address.
func cutAddress(name string) (role string, ok bool) { return strings.CutSuffix(name, addressOf) }
