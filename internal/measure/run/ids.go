package run

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// paths makes the paths that payloads see comparable: what is another in each
// trial (an identifier of the container) becomes "*". It knows identifiers by
// our own names, by their shape, and, where neither tells, by comparing the
// trials of one environment: Sarus' are sixteen letters as any word is.
// Numbers that are no part of a path, such as limits, are never touched.
type paths struct {
	ours *regexp.Regexp
	// seen are the paths of an environment by key, as tokens; a token that was
	// found to differ between trials is "*".
	seen map[string][][]string
}

func newPaths(runID string) *paths {
	return &paths{
		ours: regexp.MustCompile(regexp.QuoteMeta("plimsoll-"+runID) + `[a-z0-9-]*`),
		seen: map[string][][]string{},
	}
}

const varies = "*"

// anonymous gives a path of this key without what differs between the trials
// of the environment. A value that is no path is given as it is.
func (p *paths) anonymous(env, key, value string) string {
	if !strings.Contains(value, "/") {
		return value
	}
	value = p.ours.ReplaceAllString(value, varies)
	value = uuids.ReplaceAllString(value, varies)
	parts := tokens(value)
	for i, t := range parts {
		if idByShape(t) {
			parts[i] = varies
		}
	}
	key = env + "\x00" + key
	for _, before := range p.seen[key] {
		if unite(before, parts) {
			return strings.Join(before, "")
		}
	}
	p.seen[key] = append(p.seen[key], slices.Clone(parts))
	return strings.Join(parts, "")
}

// unite marks in a path what differs from another one of the same make; false,
// and nothing is marked, where they differ in more than identifiers.
func unite(path, other []string) bool {
	if len(path) != len(other) {
		return false
	}
	var differ []int
	for i := range path {
		switch {
		case path[i] == other[i] || path[i] == varies && idLike(other[i]):
		case other[i] == varies && idLike(path[i]), ids(path[i], other[i]):
			differ = append(differ, i)
		default:
			return false
		}
	}
	for _, i := range differ {
		path[i] = varies
	}
	return true
}

// tokens parts a text into runs of letters and digits and what is between them.
func tokens(s string) []string {
	var out []string
	start := 0
	alnum := func(c byte) bool { return c < 0x80 && (unicode.IsLetter(rune(c)) || unicode.IsDigit(rune(c))) }
	for i := 1; i <= len(s); i++ {
		if i == len(s) || alnum(s[i]) != alnum(s[i-1]) {
			out = append(out, s[start:i])
			start = i
		}
	}
	return out
}

// uuids also come with underscores, as systemd wants them.
var uuids = regexp.MustCompile(`(?i)[0-9a-f]{8}([-_])[0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12}`)

var longHex = regexp.MustCompile(`^[0-9a-f]{12,}$`)

// idByShape: a long hexadecimal number, as most engines have, or letters and
// digits in a mixture that is no word.
func idByShape(t string) bool {
	letters, digits := count(t)
	return longHex.MatchString(t) || len(t) >= 16 && letters >= 2 && digits >= 2
}

// word is how long a word may be that two trials have different ones of
// ("besteffort" and "guaranteed" of Kubernetes).
const word = 12

// ids says whether two tokens at the same place of two paths are the
// identifiers of two containers and not two words.
func ids(a, b string) bool {
	al, ad := count(a)
	bl, bd := count(b)
	switch {
	case al == 0 && bl == 0 && ad > 0 && bd > 0:
		return true // numbers, as of a process
	case len(a) < 6 || len(b) < 6 || ad+al == 0 || bd+bl == 0:
		return false
	case al > 0 && ad > 0 && bl > 0 && bd > 0:
		return true
	}
	return len(a) == len(b) && len(a) >= word
}

// idLike says whether a token can stand where others were identifiers.
func idLike(t string) bool {
	letters, digits := count(t)
	switch {
	case t == varies || letters == 0 && digits > 0:
		return true
	case letters > 0 && digits > 0:
		return len(t) >= 6
	}
	return letters >= word
}

func count(t string) (letters, digits int) {
	for _, c := range t {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			letters++
		}
	}
	return letters, digits
}
