package record

// PaperTable says which of our numbers stand beside which of a published
// table's. The published ones are not in the record: Source and Table name
// them.
type PaperTable struct {
	Source string `json:"source"` // the paper's key
	Table  string `json:"table"`
	Title  string `json:"title,omitempty"`
	// Baseline is the published engine, with its variant, that percentages are
	// taken against where the paper gives none.
	Baseline string `json:"baseline,omitempty"`
	// Engines and Images say in which of our environments a published engine
	// (with its variant, as in singularity/sif) and image is looked for.
	Engines []PaperColumn `json:"engines"`
	Images  []PaperColumn `json:"images,omitempty"`
	Rows    []PaperRow    `json:"rows"`
	// Without says why nothing stands beside a published engine, image or row.
	Without map[string]string `json:"without,omitempty"`
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
