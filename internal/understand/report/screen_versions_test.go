package report

import (
	"strings"
	"testing"

	"plimsoll/internal/record"
)

// A small screen says which versions were measured: without what a distribution adds,
// a runtime once, and all that are of one name.
func TestScreenVersions(t *testing.T) {
	res := screenResult(t, screened(3, 1))
	facts := []map[string]string{
		{"version": "0.8.0"},
		{"version": "4.3.1", "runtime": "crun", "runtime-version": "1.8.1"},
		{"version": "20.10.24+dfsg1", "runtime": "runc", "runtime-version": "1.1.5+ds1"},
	}
	i := 0
	for k := range res.Environments {
		if e := &res.Environments[k]; e.Baseline == "" {
			e.Facts, i = facts[i], i+1
			e.Engine = []string{"bubblewrap", "podman", "docker"}[i-1]
		} else {
			e.Facts = map[string]string{"version": "Linux 6.1"}
		}
	}
	line := func() string {
		for l := range strings.Lines(screenAt(t, res, 120)) {
			if rest, ok := strings.CutPrefix(l, "  Versions    "); ok {
				return strings.TrimSpace(rest)
			}
		}
		return ""
	}
	if got, want := line(), "bubblewrap 0.8.0, podman 4.3.1, docker 20.10.24, crun 1.8.1, runc 1.1.5"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
	// A bare runtime is its own engine, here in two versions, of which one has a tilde.
	facts[0]["version"], facts[0]["runtime"], facts[0]["runtime-version"] = "0.0~20221219.0", "runsc", "0.0~20221219.0"
	facts[1]["runtime"] = "runsc"
	if got, want := line(), "podman 4.3.1, docker 20.10.24, runsc 0.0~20221219.0 and 1.8.1, runc 1.1.5"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
	if strings.Contains(screenAt(t, res, 120), "  Untested  ") {
		t.Error("a line about untested versions, of which there are none")
	}
	res.Remarks = append(res.Remarks, record.Remark{Code: "untested", Level: "info", Text: "runc 999.1 is newer than any tested (1.1.15)"})
	if text := screenAt(t, res, 120); !strings.Contains(text, "  Untested    runc 999.1 is newer than any tested (1.1.15)\n") {
		t.Errorf("nothing of the untested version: %s", text)
	}
	large := screenResult(t, screened(25, 1))
	for k := range large.Environments {
		large.Environments[k].Facts = facts[1]
	}
	if strings.Contains(screenAt(t, large, 120), "  Versions  ") {
		t.Error("versions stand where the rows need the line")
	}
}
