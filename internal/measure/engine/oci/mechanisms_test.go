package oci_test

import (
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/measure/engine/oci"
)

func TestMechanisms(t *testing.T) {
	t.Parallel()
	for runtime, but := range map[string][]string{"runc": {engine.OwnCgroup}, "crun": nil, "youki": {engine.OwnCgroup, engine.PivotRoot, engine.Keyring}} {
		t.Run(runtime, func(t *testing.T) {
			enginetest.Mechanisms(t, oci.New(), map[string]string{engine.Runtime: runtime, engine.Network: "none"}, but...)
		})
	}
}
