package findings

import (
	"plimsoll/internal/common/published"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
)

// publishedOf looks the numbers up that a claim names.
func publishedOf(list []record.PublishedValue) []analyze.PublishedNumber {
	var out []analyze.PublishedNumber
	for _, v := range list {
		if v.Text != "" {
			out = append(out, analyze.PublishedNumber{PublishedValue: v})
			continue
		}
		for _, p := range published.Of(v) {
			of := record.PublishedValue{Source: p.Source, Table: p.Table, Engine: p.Engine, Variant: p.Variant, Image: p.Image, Workload: p.Workload, Metric: p.Metric}
			out = append(out, analyze.PublishedNumber{PublishedValue: of, Value: &p.Value, Unit: p.Unit})
		}
	}
	return out
}
