package web

import (
	"reflect"
	"testing"

	"plimsoll/internal/common/golden"
)

// TestShapes: programs read what plimsoll serve answers as JSON.
func TestShapes(t *testing.T) {
	golden.Shape(t, "testdata/json/index.txt", reflect.TypeFor[Index]())
	golden.Shape(t, "testdata/json/live.txt", reflect.TypeFor[Live]())
}
