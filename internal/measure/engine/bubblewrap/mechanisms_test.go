//go:build !unit

package bubblewrap_test

import (
	"testing"

	"plimsoll/internal/measure/engine/bubblewrap"
	"plimsoll/internal/measure/engine/enginetest"
)

func TestMechanisms(t *testing.T) {
	enginetest.Mechanisms(t, bubblewrap.New(), nil)
}
