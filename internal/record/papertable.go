package record

import "strings"

// PaperTable says which of our numbers stand beside which of a published
// table's. The published ones are not in the record: Source and Table name
// them.
type PaperTable struct {
	Source string `json:"source"` // the paper's key
	Table  string `json:"table"`
	Title  string `json:"title,omitempty"`
	// Statistic is the estimator of the table's numbers; "": that of its source.
	Statistic Statistic `json:"statistic,omitempty"`
	// Baseline is the published engine, with its variant, that percentages are
	// taken against where the paper gives none.
	Baseline string `json:"baseline,omitempty"`
	// Engines and Images say in which of our environments a published engine
	// (with its variant, as in singularity/sif) and image is looked for.
	Engines []PaperColumn `json:"engines"`
	Images  []PaperColumn `json:"images,omitempty"`
	Rows    []PaperRow    `json:"rows"`
	// Ratios are pairs of published engines whose ratio is compared with ours, in
	// every row and image that has both.
	Ratios []PaperPair `json:"ratios,omitempty"`
	// Without says why nothing stands beside a published engine, image or row.
	Without map[string]string `json:"without,omitempty"`
}

// PaperPair is Of over To, both published engines with their variants. A part
// that is a star (docker/*/btrfs to docker/*/overlay) stands for the same on both
// sides.
type PaperPair struct {
	Of string `json:"of"`
	To string `json:"to"`
}

// MatchEngine says what the stars of a pattern stand for in the name of a
// published engine; false where it is another.
func MatchEngine(pattern, name string) (stars []string, ok bool) {
	want, have := strings.Split(pattern, "/"), strings.Split(name, "/")
	if len(want) != len(have) {
		return nil, false
	}
	for i, w := range want {
		switch w {
		case "*":
			stars = append(stars, have[i])
		case have[i]:
		default:
			return nil, false
		}
	}
	return stars, true
}

// PaperColumn is a published engine or image, and the levels by factor (or by
// engine) that stand for it here. Of several levels the first that ran is taken.
type PaperColumn struct {
	Published string              `json:"published"`
	Levels    map[string][]string `json:"levels"`
}

// PaperRow is a published workload and metric, as in osbench/create-files/time,
// and ours.
type PaperRow struct {
	Published string `json:"published"`
	// Workload is the name of ours; Params, where given, must be its.
	Workload string            `json:"workload"`
	Params   map[string]string `json:"params,omitempty"`
	Metric   string            `json:"metric"`
	// As is "" for the value itself; PaperOverhead is the loss against native in
	// per cent, PaperDifference the gain, its negative.
	As string `json:"as,omitempty"`
	// Images, where given, take the table's place for this row: a size that lies
	// in the image makes it another one in each.
	Images []PaperColumn `json:"images,omitempty"`
	// Note says in what ours is another thing.
	Note string `json:"note,omitempty"`
}

// What a row of a published table holds beside values.
const (
	PaperOverhead   = "overhead"
	PaperDifference = "difference"
)

// Statistic is an estimator by which a study published its numbers.
type Statistic string

// The estimators of published numbers.
const (
	StatMean           Statistic = "mean"
	StatZMean          Statistic = "mean-z"               // with a normal interval and the standard deviation
	StatGeometricMean  Statistic = "geometric-mean"       // over runs
	StatWithoutLargest Statistic = "mean-without-largest" // without the largest quarter: five of twenty
	StatMedian         Statistic = "median"
)

// Title is the estimator in words.
func (s Statistic) Title() string {
	switch s {
	case StatZMean:
		return "mean ± Z"
	case StatGeometricMean:
		return "geometric mean"
	case StatWithoutLargest:
		return "trimmed mean"
	}
	return string(s)
}

// What says what there is to know of the estimator; "" nothing.
func (s Statistic) What() string {
	switch s {
	case StatZMean:
		return "the mean ± 1.96 standard errors (standard deviations are in the formats csv and json)"
	case StatGeometricMean:
		return "the geometric mean over the runs"
	case StatWithoutLargest:
		return "the mean without the largest quarter of the values, five of twenty"
	}
	return ""
}
