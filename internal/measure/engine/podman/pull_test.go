package podman

import (
	"maps"
	"slices"
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
)

func TestPulls(t *testing.T) {
	for name, levels := range map[string]map[string]string{
		"root":             {engine.Rootless: "no", engine.Network: "none"},
		"rootless api vfs": {engine.Rootless: "yes", engine.Client: "api", engine.Storage: vfs, engine.Network: "none"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			enginetest.Pulls(t, New(), levels, enginetest.PullOptions{})
		})
	}
}

func TestChains(t *testing.T) {
	layers := []layerRecord{{"base", ""}, {"one", "base"}, {"two", "base"}}
	images := []imageRecord{{ID: "a", Layer: "one"}, {ID: "b", Layer: "two"}}
	chain, others := chains("a", layers, images)
	if !slices.Equal(chain, []string{"one", "base"}) || !maps.Equal(others, map[string]bool{"two": true, "base": true}) {
		t.Errorf("chain %v, others %v", chain, others)
	}
	circle := []layerRecord{{"x", "y"}, {"y", "x"}}
	if chain, _ := chains("a", circle, []imageRecord{{ID: "a", Layer: "x"}}); len(chain) == 0 {
		t.Error("a broken list gives no layers")
	}
}
