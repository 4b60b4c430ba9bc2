package workload

import (
	"fmt"
	"slices"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/record"
)

// FillPull turns the course of a pull into a trial's values, and proves by the count of the
// run's registry that a cold one has fetched every layer.
func FillPull(t *record.Trial, pulled engine.Pulled, pub *image.Published, served image.Traffic, cache string) *record.Failure {
	request, ready := pulled.Events[record.Request], pulled.Events[record.Ready]
	if request == 0 || ready < request {
		return &record.Failure{Class: record.HarnessError, Text: "the adapter did not stamp the pull"}
	}
	if cache == CacheCold {
		if i := slices.IndexFunc(pub.Layers, func(d string) bool { return served.Blobs[d] == 0 }); i >= 0 {
			return &record.Failure{Class: record.WrongComponent,
				Text: fmt.Sprintf("the pull was not cold: the engine did not fetch the layer %s, so that it still held it", pub.Layers[i])}
		}
	}
	// The end is a step, not the event ready: no container was started.
	t.Events = map[record.Event]int64{record.Request: request}
	t.Steps = append(slices.Clone(pulled.Steps), record.Step{Name: "pulled", At: ready})
	t.Values[MetricPull] = float64(ready - request)
	t.Values[SizeCompressed] = float64(pub.Compressed)
	t.Values[MetricTransferred], t.Values[MetricRequests] = float64(served.Bytes), float64(served.Requests)
	last := request
	for _, s := range pulled.Steps {
		if s.At < last || s.At > ready {
			return &record.Failure{Class: record.HarnessError, Text: fmt.Sprintf("the step %s lies before the one before it or after the end", s.Name)}
		}
		t.Values[PullPart+s.Name] += float64(s.At - last)
		last = s.At
	}
	return nil
}
