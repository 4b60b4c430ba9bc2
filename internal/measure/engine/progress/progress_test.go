package progress

import (
	"testing"

	"plimsoll/internal/measure/engine"
)

func TestPull(t *testing.T) {
	var p Pull
	for i, m := range [][2]string{
		{"tag", "Pulling from plimsoll/x"}, {"a", "Pulling fs layer"}, {"b", "Pulling fs layer"}, {"h", "Already exists"},
		{"a", "Downloading"}, {"a", "Verifying Checksum"}, {"a", "Download complete"}, {"b", "Verifying Checksum"},
		{"a", "Extracting"}, {"b", "Download complete"}, {"a", "Pull complete"}, {"b", "Pull complete"},
		{"", "Digest: sha256:12"}, {"", "Status: Downloaded newer image for x"},
	} {
		p.Add(int64(i+1), m[0], m[1])
	}
	got := map[string]int64{}
	for _, s := range p.Steps(false) {
		got[s.Name] = s.At
	}
	want := map[string]int64{engine.StepResolve: 1, engine.StepTransfer: 8, engine.StepVerify: 10, engine.StepUnpack: 12}
	if p.Digest != "sha256:12" || len(got) != len(want) {
		t.Errorf("digest %q, steps %v, want %v", p.Digest, got, want)
	}
	for k, v := range want {
		if got[k] != v {
			t.Errorf("%s ends at %d, want %d", k, got[k], v)
		}
	}
	// What the daemon leaves out for one layer is missing, and not guessed.
	p.layers["b"].downloaded = 0
	for _, s := range p.Steps(false) {
		if s.Name == engine.StepTransfer || s.Name == engine.StepVerify {
			t.Errorf("%s is told, though it was not for one layer", s.Name)
		}
	}
}

// The command prints the same, with the layer's id before it.
func TestPullLines(t *testing.T) {
	var p Pull
	for i, line := range []string{
		"ab12: Pulling from plimsoll/x", "0123: Already exists", "4567: Pulling fs layer", "4567: Download complete", "4567: Pull complete",
		"Digest: sha256:12", "Status: Downloaded newer image for 127.0.0.1:5000/plimsoll/x:ab12", "127.0.0.1:5000/plimsoll/x:ab12",
	} {
		p.AddLine(int64(i+1), line)
	}
	steps := p.Steps(false)
	if p.Digest != "sha256:12" || len(steps) != 3 || steps[2].Name != engine.StepUnpack || steps[2].At != 5 {
		t.Errorf("digest %q, steps %v", p.Digest, steps)
	}
}

// What balenaEngine says of a pull: a layer's bytes go into the unpacking as
// they come, so that its parts can't be told from each other.
func TestUnpacksAlong(t *testing.T) {
	var p Pull
	for i, m := range [][2]string{
		{"tag", "Pulling from plimsoll/x"}, {"a", "Pulling fs layer"}, {"a", "Downloading"},
		{"a", "Download complete"}, {"a", "Pull complete"}, {"", "Digest: sha256:12"},
	} {
		p.Add(int64(i+1), m[0], m[1])
	}
	if got := p.Steps(true); len(got) != 1 || got[0].Name != engine.StepResolve {
		t.Errorf("steps %v, expected the resolution alone", got)
	}
}
