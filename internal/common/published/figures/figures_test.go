package figures

import (
	"strings"
	"testing"

	"plimsoll/internal/common/published"
)

// Each bundled file is read and checked against the published tables.
func TestBundled(t *testing.T) {
	if len(Names()) < 5 {
		t.Fatalf("%v", Names())
	}
	for _, name := range Names() {
		list, err := Of(name)
		if err != nil || len(list) == 0 {
			t.Errorf("%s: %d figures, %v", name, len(list), err)
			continue
		}
		// A study may be a part of a paper's, as khan2026-cold is.
		if _, known := published.SourceOf(list[0].Source); !known || !strings.HasPrefix(name, list[0].Source) {
			t.Errorf("the figures of %s are of %q", name, list[0].Source)
		}
	}
}

func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		"figures: []": "plimsoll-figures",
		"plimsoll-figures: 1\nfigures:\n  - {name: a, shows: b, title: c, kind: pie}":                                                                                   "kind",
		"plimsoll-figures: 1\nfigures:\n  - {name: a, shows: b, title: c, kind: bars}":                                                                                  "has no key table",
		"plimsoll-figures: 1\nfigures:\n  - {name: a, shows: b, title: c, kind: bars, table: Table 3, over: size}":                                                      "has the key over",
		"plimsoll-figures: 1\nfigures:\n  - {name: a, shows: b, title: c, kind: ramps, workload: density, part: course, table: Table 3}":                                "of the part course has the key table",
		"plimsoll-figures: 1\nfigures:\n  - {name: a, shows: b, title: c, kind: not-drawn}":                                                                             "has no key because",
		"plimsoll-figures: 1\nfigures:\n  - {name: a, shows: b, title: c, kind: bars, table: Table 99}":                                                                 `"Table 99"`,
		"plimsoll-figures: 1\nfigures:\n  - {name: a, shows: b, title: c, kind: bars, table: Table 3, rows: [nope]}":                                                    `"nope"`,
		"plimsoll-figures: 1\nfigures:\n  - {name: a, shows: b, title: c, kind: not-drawn, because: x}\n  - {name: a, shows: b, title: c, kind: not-drawn, because: x}": "two figures",
	} {
		_, err := read("f.yaml", "baresi2024", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if _, err := Of("nope"); err == nil || !strings.Contains(err.Error(), "baresi2024") {
		t.Errorf("%v", err)
	}
}
