package containerd

import (
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
)

func TestMechanisms(t *testing.T) {
	for _, runtime := range []string{"runc", "crun"} {
		t.Run(runtime, func(t *testing.T) {
			enginetest.Mechanisms(t, New(), map[string]string{engine.Runtime: runtime, engine.Network: "none"}, engine.OwnDaemon)
		})
	}
}

func TestLayers(t *testing.T) {
	enginetest.Layers(t, New(), map[string]string{engine.Network: "host"})
}

func TestFilled(t *testing.T) {
	enginetest.Filled(t, New(), map[string]string{engine.Network: "host"})
}
