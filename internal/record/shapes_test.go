package record

import (
	"path/filepath"
	"reflect"
	"testing"

	"plimsoll/internal/common/golden"
)

// TestShapes: within a format fields are only ever added, in each file of a record.
func TestShapes(t *testing.T) {
	for name, of := range map[string]reflect.Type{
		"run":         reflect.TypeFor[Run](),
		"trial":       reflect.TypeFor[Trial](),
		"inside":      reflect.TypeFor[Inside](),
		"features":    reflect.TypeFor[Features](),
		"timeline":    reflect.TypeFor[Timeline](),
		"density":     reflect.TypeFor[DensityStep](),
		"load":        reflect.TypeFor[LoadStep](),
		"series_head": reflect.TypeFor[SeriesHead](),
		"series_tail": reflect.TypeFor[SeriesTail](),
		"trace_head":  reflect.TypeFor[TraceHead](),
		"trace_event": reflect.TypeFor[TraceEvent](),
		"trace_tail":  reflect.TypeFor[TraceTail](),
	} {
		golden.Shape(t, filepath.Join("testdata", "json", name+".txt"), of)
	}
}
