package portable

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/moby/moby/api/types/container"

	"plimsoll/internal/common/require"
)

// What an engine counts of a container is read in the forms of both control groups, and
// what it leaves out is no 0.
func TestCounted(t *testing.T) {
	for answer, want := range map[string]map[string]float64{
		`{"memory_stats":{"usage":300,"stats":{"total_inactive_file":100}},"cpu_stats":{"cpu_usage":{"total_usage":7000}}}`: {memoryMetric: 200, cpuMetric: 7000},
		`{"memory_stats":{"usage":300,"stats":{"inactive_file":50}},"cpu_stats":{}}`:                                        {memoryMetric: 250},
		`{"memory_stats":{},"cpu_stats":{"cpu_usage":{"total_usage":1}}}`:                                                   {cpuMetric: 1},
		`{}`: {},
	} {
		var s container.StatsResponse
		require.NoError(t, json.Unmarshal([]byte(answer), &s))
		if got := counted(s); !maps.Equal(got, want) {
			t.Errorf("%s is read as %v, want %v", answer, got, want)
		}
	}
}
