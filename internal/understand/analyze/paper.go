package analyze

import (
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/sample"
)

// PaperTable is a published table with the run's numbers beside its own.
type PaperTable struct {
	// Source is the paper's key, Table its table there.
	Source string `json:"source"`
	Table  string `json:"table"`
	Title  string `json:"title,omitempty"`
	// Cells has one for each published value, in the paper's order.
	Cells []PaperCell `json:"cells"`
}

// PaperCell is one published value and what was measured here.
type PaperCell struct {
	// Engine (with its variant), Image and Row (workload and metric) are the
	// paper's words.
	Engine string `json:"engine"`
	Image  string `json:"image,omitempty"`
	Row    string `json:"row"`
	// Unit is that of every number of the cell.
	Unit   string           `json:"unit"`
	Better record.Direction `json:"better"`
	// Published is a mean, CI95 the half-width of its 95 % interval and SD the
	// standard deviation, where the paper gives them. From says from which two
	// published values a percentage was made that the paper does not give itself.
	Published float64  `json:"published"`
	CI95      *float64 `json:"ci95,omitempty"`
	SD        *float64 `json:"sd,omitempty"`
	From      string   `json:"from,omitempty"`
	// PublishedMedian is of the paper's own raw values, with its 95 % interval,
	// where those are public; Published is then the authors' own statistic.
	PublishedMedian *sample.Estimate `json:"published_median,omitempty"`
	// Here is the median of N values in Blocks blocks; as a percentage it is
	// against native.
	Here     *sample.Estimate `json:"here,omitempty"`
	N        int              `json:"n,omitempty"`
	Blocks   int              `json:"blocks,omitempty"`
	Env      string           `json:"env,omitempty"`
	Workload string           `json:"workload,omitempty"`
	Metric   string           `json:"metric,omitempty"`
	// Note says in what ours is another thing.
	Note string `json:"note,omitempty"`
	// Missing says why there is nothing of ours. NoCounterpart is true where the
	// study has nothing that could stand here, on whatever machine.
	Missing       string `json:"missing,omitempty"`
	NoCounterpart bool   `json:"no_counterpart,omitempty"`
}
