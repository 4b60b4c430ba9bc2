package cli

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"plimsoll/internal/measure/portable"
)

var updateCatalogue = flag.Bool("update-catalogue", false, "write what the adapters know into the portable half")

// The half that is built everywhere knows of the adapters what they say of themselves.
func TestPortableCatalogue(t *testing.T) {
	w := System()
	w.Getenv = func(name string) string {
		if name == "PLIMSOLL_STATE" {
			return t.TempDir()
		}
		return ""
	}
	s, err := newSetting(w)
	if err != nil {
		t.Fatal(err)
	}
	c := s.studyCatalogue()
	text, err := json.MarshalIndent(portable.Known{Engines: c.Engines, Factors: c.Factors, Rules: c.Rules, Lacks: c.Lacks, Sampled: c.Sampled}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	const path = "../measure/portable/catalogue.json"
	text = append(text, '\n')
	if *updateCatalogue {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, text) {
		t.Errorf("%s is not what the adapters say: go test ./internal/cli -run TestPortableCatalogue -update-catalogue", path)
	}
}
