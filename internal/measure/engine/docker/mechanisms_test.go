package docker

import (
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
)

// Command line and API leave out the same.
func TestMechanisms(t *testing.T) {
	for client, but := range map[string][]string{"cli": {engine.PublishedPort}, "api": {engine.PublishedPort, engine.Terminal}} {
		t.Run(client, func(t *testing.T) {
			enginetest.Mechanisms(t, New(), map[string]string{engine.Client: client, engine.Network: "host", engine.Seccomp: "off"}, but...)
		})
	}
}

func TestLayers(t *testing.T) {
	enginetest.Layers(t, New(), map[string]string{engine.Network: "host"})
}
