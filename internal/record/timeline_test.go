package record

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

func TestTimelineComesBack(t *testing.T) {
	r := &Reader{dir: t.TempDir()}
	if got, err := r.Timeline(); got != nil || err != nil {
		t.Errorf("a run of which no start was followed: %+v %v", got, err)
	}
	want := &Timeline{Schema: TimelineSchema, Engine: "docker", Workload: "hello", Metric: "startup", Starts: 10, Mechanisms: []Observed{
		{Mechanism: "network", With: 100, Without: 60, Gone: 50, Else: -10, Lo: -3, Hi: 70, Kinds: []ObservedKind{{GraceStep, -10}}, Steps: []ObservedStep{{Name: "dockerd: iptables", With: 50}}}}}
	require.NoError(t, WriteTimeline(r.dir, want))
	got, err := r.Timeline()
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v %v", got, err)
	}
	if got.Of("network") != &got.Mechanisms[0] || got.Of("seccomp") != nil {
		t.Error("a mechanism is not found by its name")
	}
	if got, err := InMemory(&Run{}, nil).Timeline(); got != nil || err != nil {
		t.Errorf("a run in memory: %+v %v", got, err)
	}
}

func TestTimelinesThatAreWrong(t *testing.T) {
	const named = `"engine": "docker", "workload": "hello", "metric": "startup"`
	for text, want := range map[string]string{
		`{`:               "unexpected end",
		`{` + named + `}`: "no schema",
		`{"schema": 9}`:   "newer plimsoll",
		`{"schema": 1, "engine": "docker", "starts": 1}`:                                               "expected all three",
		`{"schema": 1, ` + named + `}`:                                                                 "it is of 0 starts",
		`{"schema": 1, ` + named + `, "starts": 1, "mechanisms": [{}]}`:                                "mechanism 1 has no name",
		`{"schema": 1, ` + named + `, "starts": 1, "mechanisms": [{"mechanism": "x", "with_ns": -1}]}`: "mechanism x: its starts took -1 and 0 ns",
	} {
		r := &Reader{dir: t.TempDir()}
		file := filepath.Join(r.dir, TimelineFile)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		if _, err := r.Timeline(); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
