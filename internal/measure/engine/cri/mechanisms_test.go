package cri

import (
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
)

func TestMechanisms(t *testing.T) {
	for endpoint, but := range map[string][]string{containerd: nil, crio: {engine.MaskedPaths}} {
		t.Run(endpoint, func(t *testing.T) {
			enginetest.Mechanisms(t, New(), map[string]string{engine.Endpoint: endpoint, engine.Network: "host"}, but...)
		})
	}
}

func TestLayers(t *testing.T) {
	enginetest.Layers(t, New(), map[string]string{engine.Network: "host"})
}

func TestFilled(t *testing.T) {
	enginetest.Filled(t, New(), map[string]string{engine.Network: "host"})
}
