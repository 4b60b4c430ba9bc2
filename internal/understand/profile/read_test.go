package profile

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/common/yamlfile"
	"plimsoll/internal/record"
)

const good = `plimsoll-profile: 1
name: mine
title: My use
study: ./mine.yaml
matters: 2%
criteria:
  - workload: sqlite-write
    parameters: {size: [151.6kB, 2.6MB]}
    metric: time
    better: lower
    weight: 2.5
    why: It waits.
require:
  - {is: [rootless, own-kernel], why: Strangers.}
`

func TestRead(t *testing.T) {
	p, err := Read("mine.yaml", []byte(good))
	require.NoError(t, err)
	c := p.Criteria[0]
	if p.Name != "mine" || p.Study != "./mine.yaml" || p.Matters != 0.02 || c.Weight != 2.5 || c.Better != record.LowerIsBetter || c.Where != "mine.yaml:7:5" ||
		len(c.Params["size"]) != 2 || len(p.Require) != 1 || len(p.Require[0].Is) != 2 || p.Require[0].Where != "mine.yaml:14:5" {
		t.Errorf("%+v", p)
	}
}

func TestErrors(t *testing.T) {
	change := func(old, now string) string { return strings.Replace(good, old, now, 1) }
	for text, want := range map[string]string{
		"":                                      "mine.yaml: the file is empty",
		"plimsoll: 1\n":                         `this is no profile: it has no key "plimsoll-profile"`,
		change("file: 1", "file: 2"):            "at most format 1",
		change("name: mine", "name: My Use"):    `mine.yaml:2:7: name is "My Use", expected a name`,
		change("weight: 2.5", "weight: 0"):      `mine.yaml:11:13: weight is "0", expected a number above 0`,
		change("weight: 2.5", "weight: heavy"):  `mine.yaml:11:13: weight is "heavy"`,
		change("weight: 2.5", "wieght: 2.5"):    `did you mean "weight"?`,
		change("better: lower", "better: less"): `mine.yaml:10:13: better is "less"`,
		change("    why: It waits.\n", ""):      `has no key "why"`,
		change("sqlite-write", "'a b'"):         `mine.yaml:7:15: workload is "a b"`,
		change("study: ./", "study: --x "):      `mine.yaml:4:8: study is`,
		change("matters: 2%", "matters: 2"):     `mine.yaml:5:10: matters is "2", expected a percentage`,
		change("[rootless, own-kernel]", "[]"):  "is is an empty list",
		change("require:", "  - {workload: x, metric: time, better: lower, weight: 1, why: a}\n  - {workload: x, metric: time, better: lower, weight: 1, why: b}\nrequire:"): "mine.yaml:14:5: this criterion stands here again (first in line 13)",
	} {
		_, err := Read("mine.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives\n%v\nwant\n%s", text, err, want)
		}
	}
}

// FuzzProfile: whatever the file, there is a profile that makes sense or errors
// with their place.
func FuzzProfile(f *testing.F) {
	f.Add([]byte(good))
	for _, n := range Names() {
		data, err := Source(n)
		require.NoError(f, err)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Read("mine.yaml", data)
		if err != nil {
			var es *yamlfile.Errors
			if !errors.As(err, &es) || len(es.List) == 0 {
				t.Fatalf("an error without a place: %v", err)
			}
			return
		}
		if p.Name == "" || p.Title == "" || len(p.Criteria) == 0 || p.Matters < 0 || p.Matters > 1 {
			t.Fatalf("%+v", p)
		}
		for _, c := range p.Criteria {
			if c.Workload == "" || c.Metric == "" || c.Why == "" || c.Weight <= 0 || c.Weight > maxWeight || c.Better != record.LowerIsBetter && c.Better != record.HigherIsBetter {
				t.Fatalf("%+v", c)
			}
		}
		for _, d := range slices.Concat(p.Require, p.Prefer) {
			if len(d.Is) == 0 || d.Why == "" {
				t.Fatalf("%+v", d)
			}
		}
	})
}
