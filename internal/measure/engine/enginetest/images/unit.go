//go:build unit

package images

import (
	"errors"
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/image"
)

// Whoever gets here asks an engine, and has not asked first whether to be skipped.
var errUnit = errors.New("make unit has no images: a test that asks an engine is skipped with -short")

// Fill fails.
func Fill(t testing.TB, _ *engine.Kit) {
	t.Helper()
	t.Fatal(errUnit)
}

// New fails.
func New(string) image.Provider { panic(errUnit) }

// Serve fails.
func Serve(string) (Registry, error) { return nil, errUnit }
