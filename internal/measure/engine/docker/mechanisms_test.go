package docker

import (
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
)

// Command line and API leave out the same.
func TestMechanisms(t *testing.T) {
	for client, but := range map[string][]string{"cli": {}, "api": {engine.Terminal}} {
		t.Run(client, func(t *testing.T) {
			enginetest.Mechanisms(t, New(), map[string]string{engine.Client: client, engine.Network: "host", engine.Seccomp: "off"},
				append(but, engine.PublishedPort, engine.OwnDaemon, engine.PacketFilter, engine.UserlandProxy, engine.Durability)...)
		})
	}
}

func TestLayers(t *testing.T) {
	enginetest.Layers(t, New(), map[string]string{engine.Network: "host"})
}

func TestFilled(t *testing.T) {
	enginetest.Filled(t, New(), map[string]string{engine.Network: "host"})
}
