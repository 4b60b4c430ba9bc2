package analyze

import (
	"plimsoll/internal/common/published"
	"plimsoll/internal/record"
)

// publishedOf looks the numbers up that a claim names.
func publishedOf(list []record.PublishedValue) []PublishedNumber {
	var out []PublishedNumber
	for _, v := range list {
		if v.Text != "" {
			out = append(out, PublishedNumber{PublishedValue: v})
			continue
		}
		for _, p := range published.Of(v) {
			of := record.PublishedValue{Source: p.Source, Table: p.Table, Engine: p.Engine, Variant: p.Variant, Image: p.Image, Workload: p.Workload, Metric: p.Metric}
			out = append(out, PublishedNumber{of, &p.Value, p.Unit})
		}
	}
	return out
}
