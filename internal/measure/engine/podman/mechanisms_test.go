package podman

import (
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
)

// Command line and API leave out the same.
func TestMechanisms(t *testing.T) {
	for client, but := range map[string][]string{"cli": {engine.Volatile}, "api": {engine.Terminal}} {
		t.Run(client, func(t *testing.T) {
			enginetest.Mechanisms(t, New(), map[string]string{engine.Client: client, engine.Network: "host", engine.Seccomp: "off"},
				append(but, engine.OwnCgroup, engine.PublishedPort)...)
		})
	}
}

// A container without a control group must have a PID namespace. All that is added at
// once is tried with crun too, and where no terminal carries the output: then it goes
// through pipes, into the log as well, and an init stands between.
func TestNoControlGroup(t *testing.T) {
	for _, client := range []string{"cli", "api"} {
		enginetest.Mechanisms(t, New(), map[string]string{engine.Client: client, engine.Runtime: "crun", engine.Network: "none"},
			engine.Volatile, engine.PIDNamespace, engine.Terminal, engine.PublishedPort)
	}
}

func TestLayers(t *testing.T) {
	enginetest.Layers(t, New(), map[string]string{engine.Network: "host"})
}

func TestFilled(t *testing.T) {
	enginetest.Filled(t, New(), map[string]string{engine.Network: "host"})
}
