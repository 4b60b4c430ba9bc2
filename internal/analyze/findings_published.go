package analyze

import (
	"plimsoll/internal/published"
	"plimsoll/internal/record"
)

// PublishedNumber is what a study published, in its own words and units.
type PublishedNumber struct {
	Source   string   `json:"source"`
	Table    string   `json:"table,omitempty"`
	Engine   string   `json:"engine,omitempty"`
	Variant  string   `json:"variant,omitempty"`
	Image    string   `json:"image,omitempty"`
	Workload string   `json:"workload,omitempty"`
	Metric   string   `json:"metric,omitempty"`
	Value    *float64 `json:"value,omitempty"`
	Unit     string   `json:"unit,omitempty"`
	Text     string   `json:"text,omitempty"`
}

// publishedOf looks the numbers up that a claim names.
func publishedOf(list []record.PublishedValue) []PublishedNumber {
	var out []PublishedNumber
	for _, v := range list {
		if v.Text != "" {
			out = append(out, PublishedNumber{Source: v.Source, Table: v.Table, Engine: v.Engine, Variant: v.Variant, Image: v.Image, Workload: v.Workload, Metric: v.Metric, Text: v.Text})
			continue
		}
		for _, p := range published.Of(v) {
			out = append(out, PublishedNumber{Source: p.Source, Table: p.Table, Engine: p.Engine, Variant: p.Variant, Image: p.Image,
				Workload: p.Workload, Metric: p.Metric, Value: &p.Value, Unit: p.Unit})
		}
	}
	return out
}
