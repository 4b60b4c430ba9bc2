package cli

import (
	"os"
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"
)

// isHarmless demands of files that they are not longer than so many bytes, and
// that no terminal does with them anything but show them: harmless N FILE...
// With -bytes only their length counts.
func isHarmless(ts *testscript.TestScript, neg bool, args []string) {
	only := len(args) > 0 && args[0] == "-bytes"
	if only {
		args = args[1:]
	}
	if neg || len(args) < 2 {
		ts.Fatalf("usage: harmless [-bytes] N file...")
	}
	most, err := strconv.Atoi(args[0])
	ts.Check(err)
	for _, name := range args[1:] {
		data, err := os.ReadFile(ts.MkAbs(name))
		ts.Check(err)
		switch {
		case len(data) == 0 || len(data) > most:
			ts.Fatalf("%s has %d bytes, expected 1 to %d", name, len(data), most)
		case only:
			continue
		case !utf8.Valid(data):
			ts.Fatalf("%s is not UTF-8", name)
		}
		for at, r := range string(data) {
			if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
				ts.Fatalf("%s has %q at byte %d", name, r, at)
			}
		}
	}
}
