package threshold

import (
	"errors"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/common/yamlfile"
)

const good = `plimsoll-gate: 1
fail-above: 5%
rules:
  - environment: podman*
    metric: startup
    fail-above: 10%
  - metric: removal
    ignore: true
`

func TestRead(t *testing.T) {
	got, err := Read("gate.yaml", []byte(good))
	require.NoError(t, err)
	if got.FailAbove != 0.05 || len(got.Rules) != 2 || got.Rules[0].Environment != "podman*" || got.Rules[0].FailAbove != 0.1 ||
		!got.Rules[1].Ignore || got.Rules[0].Where != "gate.yaml:4:5" {
		t.Errorf("%+v", got)
	}
}

func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                                "gate.yaml: the file is empty",
		"plimsoll: 1\n":                                   `this is no threshold file: it has no key "plimsoll-gate"`,
		"plimsoll-gate: 2\n":                              "at most format 1",
		"plimsoll-gate: 1\n":                              "gate.yaml:1:1: no threshold is given",
		"plimsoll-gate: 1\nfail-above: 5\n":               `gate.yaml:2:13: fail-above is "5", expected a percentage`,
		"plimsoll-gate: 1\nfail-abov: 5%\n":               `did you mean "fail-above"?`,
		"plimsoll-gate: 1\nrules: []\n":                   "rules is empty",
		"plimsoll-gate: 1\nrules: [x]\n":                  "gate.yaml:2:9",
		"plimsoll-gate: 1\nrules:\n  - {}\n":              "gate.yaml:3:5: this rule names no environment",
		"plimsoll-gate: 1\nrules:\n  - metric: startup\n": "gate.yaml:3:5: this rule says what to do not at all",
		"plimsoll-gate: 1\nrules:\n  - metric: startup\n    ignore: true\n    fail-above: 5%\n": "says what to do twice",
		"plimsoll-gate: 1\nrules:\n  - metric: a b\n    fail-above: 5%\n":                       `gate.yaml:3:13: metric is "a b", expected a name`,
	} {
		_, err := Read("gate.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives\n%v\nwant\n%s", text, err, want)
		}
	}
}

// FuzzThresholds: whatever the file, there are thresholds that make sense or
// errors with their place.
func FuzzThresholds(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte("plimsoll-gate: 1\nrules:\n  - {metric: a, ignore: true}\n"))
	f.Add([]byte("plimsoll-gate: 1\nrules: [null, [], 5%]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := Read("gate.yaml", data)
		if err != nil {
			var es *yamlfile.Errors
			if !errors.As(err, &es) || len(es.List) == 0 {
				t.Fatalf("an error without a place: %v", err)
			}
			return
		}
		if got.FailAbove == 0 && len(got.Rules) == 0 || got.FailAbove < 0 || got.FailAbove > 1 {
			t.Fatalf("%+v", got)
		}
		for _, r := range got.Rules {
			if r.Ignore == (r.FailAbove > 0) || r.Environment+r.Workload+r.Metric == "" {
				t.Fatalf("%+v", r)
			}
		}
	})
}
