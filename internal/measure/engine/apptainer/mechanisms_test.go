package apptainer

import (
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
)

func TestMechanisms(t *testing.T) {
	for _, storage := range []string{"sif", "sandbox"} {
		t.Run(storage, func(t *testing.T) {
			enginetest.Mechanisms(t, New(), map[string]string{engine.Storage: storage})
		})
	}
}

func TestFilled(t *testing.T) {
	enginetest.Filled(t, New(), map[string]string{})
}
