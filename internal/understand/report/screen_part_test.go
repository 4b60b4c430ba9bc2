package report

import (
	"strings"
	"testing"

	"plimsoll/internal/understand/analyze"
)

// A part of a run keeps its ranks, which then begin anywhere: that is said.
func TestScreenOfPart(t *testing.T) {
	res := screenResult(t, screened(3, 1))
	const said = "95 %: all ranks (in the whole run) at once"
	if text := screenAt(t, res, 120); strings.Contains(text, said) {
		t.Errorf("the whole run is told as a part:\n%s", text)
	}
	part, err := res.Narrow(analyze.Choice{Engines: []string{"podman"}})
	if err != nil {
		t.Fatal(err)
	}
	if text := screenAt(t, part, 120); !strings.Contains(text, said) {
		t.Errorf("no %q in\n%s", said, text)
	}
}

// Several first ones of one engine, whose names have no room, are counted: from what the
// engine cannot be told apart would be open.
func TestScreenOfOneEngine(t *testing.T) {
	res := screenResult(t, screened(3, 1))
	for k := range res.Environments {
		if e := &res.Environments[k]; e.Baseline == "" {
			e.Engine = "podman"
		}
	}
	if text := screenAt(t, res, 75); !strings.Contains(text, "podman 2.97 ms, 2 environments (cannot") {
		t.Errorf("\n%s", text)
	}
}

// The first line says that the machine was tuned: users have another one.
func TestScreenOfTunedMachine(t *testing.T) {
	res := screenResult(t, screened(3, 1))
	for _, tuned := range []bool{false, true} {
		res.Run.Protocol.Tuned = tuned
		line, _, _ := strings.Cut(screenAt(t, res, 80), "\n")
		if strings.HasPrefix(line, "engines, tuned · ") != tuned {
			t.Errorf("tuned %v: %s", tuned, line)
		}
	}
}
