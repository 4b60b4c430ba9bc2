package nerdctl

import (
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
)

func TestMechanisms(t *testing.T) {
	enginetest.Mechanisms(t, New(), map[string]string{engine.Network: "host", engine.Seccomp: "off"})
}
