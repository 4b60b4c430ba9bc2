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
	// Statistic is the estimator of its numbers.
	Statistic record.Statistic `json:"statistic,omitempty"`
	// Cells has one for each published value, in the paper's order.
	Cells []PaperCell `json:"cells"`
	// Apart counts by the paper's own rule which engines differ: those whose
	// intervals are disjoint. It has one for each row and image, where the
	// statistic has an interval.
	Apart []PaperApart `json:"apart,omitempty"`
	// Ratios are published ratios with those of the same two environments here.
	Ratios []PaperRatio `json:"ratios,omitempty"`
}

// PaperRatio is one ratio, there and here.
type PaperRatio struct {
	// Pair is the study's pair of patterns, and Same what its stars stand for.
	Pair record.PaperPair `json:"pair"`
	Same string           `json:"same,omitempty"`
	// Of over To: published engines. Row and Image are the paper's words.
	Of    string `json:"of"`
	To    string `json:"to"`
	Image string `json:"image,omitempty"`
	Row   string `json:"row"`
	// Theirs has an interval where the paper's raw values are public, and then is
	// an estimate from these, of two independent samples (Hodges & Lehmann, on
	// logarithms): they were not measured in turns. Else it is the quotient of the
	// two published numbers.
	Theirs sample.Estimate `json:"theirs"`
	// Here is ours, over blocks.
	Here   *sample.Estimate `json:"here,omitempty"`
	Blocks int              `json:"blocks,omitempty"`
	// Way compares the two: the sides of 1 on which they lie.
	Way Way `json:"way,omitempty"`
	// Missing says why there is no ratio of ours.
	Missing string `json:"missing,omitempty"`
}

// Way says whether two ratios lie on the same side of 1.
type Way string

// The ways. A ratio lies on a side where its interval does.
const (
	SameWay  Way = "same"
	OtherWay Way = "other"
	OpenWay  Way = "open" // one of the two can't be told from 1, or has no interval
)

// PaperApart are the pairs of engines of one row and image that have an interval
// there and here.
type PaperApart struct {
	Row   string `json:"row"`
	Image string `json:"image,omitempty"`
	// Pairs is how many; Theirs and Ours how many are disjoint there and here.
	Pairs  int `json:"pairs"`
	Theirs int `json:"theirs"`
	Ours   int `json:"ours"`
	// Otherwise names the pairs that are disjoint in one and not in the other, or
	// in both the other way round.
	Otherwise []string `json:"otherwise,omitempty"`
}

// PaperStat is the paper's estimator of our values.
type PaperStat struct {
	Value float64 `json:"value"`
	// CI95 is the half-width of the normal interval and SD the standard deviation
	// (mean-z alone), Dropped how many values were left out.
	CI95    *float64 `json:"ci95,omitempty"`
	SD      *float64 `json:"sd,omitempty"`
	Dropped int      `json:"dropped,omitempty"`
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
	Here *sample.Estimate `json:"here,omitempty"`
	// Same is the paper's estimator of the same values, in the same unit.
	Same     *PaperStat `json:"same,omitempty"`
	N        int        `json:"n,omitempty"`
	Blocks   int        `json:"blocks,omitempty"`
	Env      string     `json:"env,omitempty"`
	Workload string     `json:"workload,omitempty"`
	Metric   string     `json:"metric,omitempty"`
	// Note says in what ours is another thing.
	Note string `json:"note,omitempty"`
	// Missing says why there is nothing of ours. NoCounterpart is true where the
	// study has nothing that could stand here, on whatever machine.
	Missing       string `json:"missing,omitempty"`
	NoCounterpart bool   `json:"no_counterpart,omitempty"`
}
