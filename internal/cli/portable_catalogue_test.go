package cli

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"plimsoll/internal/common/require"
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
	require.NoError(t, err)
	c := s.studyCatalogue()
	text, err := json.MarshalIndent(portable.Known{Engines: c.Engines, Factors: c.Factors, Rules: c.Rules, Lacks: c.Lacks, Sampled: c.Sampled}, "", " ")
	require.NoError(t, err)
	const path = "../measure/portable/catalogue.json"
	text = append(text, '\n')
	if *updateCatalogue {
		require.NoError(t, os.WriteFile(path, text, 0o644))
	}
	have, err := os.ReadFile(path)
	require.NoError(t, err)
	if !bytes.Equal(have, text) {
		t.Errorf("%s is not what the adapters say: go test ./internal/cli -run TestPortableCatalogue -update-catalogue", path)
	}
}
