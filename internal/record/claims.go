package record

// Claim is a sentence that measurements support or contradict.
type Claim struct {
	// ID is stable, such as baresi2024/6a; what stands before the slash is the
	// study that made the claim.
	ID   string `json:"id"`
	Says string `json:"says"`
	// Why is what is not known of its cause, and may be answered by Answers.
	Why string `json:"why,omitempty"`
	// Needs says what this program cannot have: of a claim without tests why
	// it is not tested, else what its tests leave out.
	Needs   string        `json:"needs,omitempty"`
	Tests   []ClaimTest   `json:"tests,omitempty"`
	Answers []ClaimAnswer `json:"answers,omitempty"`
	// Features is the group of the published feature table whose cells are
	// the claim.
	Features  string           `json:"features,omitempty"`
	Published []PublishedValue `json:"published,omitempty"`
	// StandIns are those of what Tests look at that the paper did not have.
	StandIns []StandIn `json:"stand_ins,omitempty"`
	// Differs are those in whose place something else does as well: they are
	// said beside the verdict.
	Differs []StandIn `json:"differs,omitempty"`
}

// StandIn says that something which is measured here is not what the paper
// measured. Of a claim's StandIns (another program, mechanism or topology) a
// pair neither supports nor contradicts the claim; of its Differs (an engine's
// successor, another instrument or client) it does.
type StandIn struct {
	Aspect string `json:"aspect"`
	// Workload, Metrics and Of (levels by factor or engine) choose what is
	// meant; of what is empty, all.
	Workload WorkloadChoice      `json:"workload"`
	Metrics  []string            `json:"metrics,omitempty"`
	Of       map[string][]string `json:"of,omitempty"`
	// Paper is what it had, Here what stands in for it, and Why the reason.
	Paper string `json:"paper"`
	Here  string `json:"here"`
	Why   string `json:"why"`
}

// ClaimTest compares pairs of cells A and B. A is of an environment that Of
// matches, with Workload and Metric. B is of one that To matches, of the
// Baseline, or of A's own environment; with ToWorkload and ToMetric, where
// they are given. With Vary, A and B are any two environments of Of that
// differ in that factor only.
type ClaimTest struct {
	// Of and To give levels by factor, or by "engine": all must match, several
	// levels mean any. The level "default" matches what was left to the engine.
	Of       map[string][]string `json:"of,omitempty"`
	To       map[string][]string `json:"to,omitempty"`
	Baseline string              `json:"baseline,omitempty"`
	Vary     string              `json:"vary,omitempty"`
	// Same are the factors in which A and B must agree; nil stands for those
	// that vary on both sides, among levels that they share, and that the two
	// do not name otherwise.
	Same       []string        `json:"same,omitempty"`
	Workload   WorkloadChoice  `json:"workload"`
	ToWorkload *WorkloadChoice `json:"to_workload,omitempty"`
	Metric     string          `json:"metric"`
	ToMetric   string          `json:"to_metric,omitempty"`
	// Exactly one is given: what A over B must be, or A alone.
	Ratio *Range `json:"ratio,omitempty"`
	Value *Range `json:"value,omitempty"`
}

// ClaimAnswer is a further test whose outcome answers the claim's Why.
type ClaimAnswer struct {
	Test ClaimTest `json:"test"`
	// Supported and Contradicted are what then holds.
	Supported    string `json:"supported"`
	Contradicted string `json:"contradicted,omitempty"`
	// Command measures what the test looks at, and little else; empty where the
	// study names no part for it.
	Command string `json:"command,omitempty"`
}

// WorkloadChoice matches workloads by name or id, and by their parameters as
// far as they are given; several levels mean any.
type WorkloadChoice struct {
	Names  []string            `json:"names"`
	Params map[string][]string `json:"params,omitempty"`
}

// Range is an interval of numbers. A bound that is missing is infinite; an
// open one does not belong to it.
type Range struct {
	Text    string   `json:"text"` // as the study has it
	Min     *float64 `json:"min,omitempty"`
	Max     *float64 `json:"max,omitempty"`
	MinOpen bool     `json:"min_open,omitempty"`
	MaxOpen bool     `json:"max_open,omitempty"`
	// Unit is that of the bounds: ns, bytes or percent; empty for the metric's.
	Unit string `json:"unit,omitempty"`
}

// PublishedValue says which published values stand beside a claim. An empty
// field means any; Text is what is published where no table has it.
type PublishedValue struct {
	Source   string `json:"source"`
	Table    string `json:"table,omitempty"`
	Engine   string `json:"engine,omitempty"`
	Variant  string `json:"variant,omitempty"`
	Image    string `json:"image,omitempty"`
	Workload string `json:"workload,omitempty"`
	Metric   string `json:"metric,omitempty"`
	Text     string `json:"text,omitempty"`
}

// Holds says whether v lies in the range.
func (r *Range) Holds(v float64) bool {
	return (r.Min == nil || v > *r.Min || v == *r.Min && !r.MinOpen) &&
		(r.Max == nil || v < *r.Max || v == *r.Max && !r.MaxOpen)
}

// Contains says whether all of [lo, hi] lies in the range.
func (r *Range) Contains(lo, hi float64) bool { return r.Holds(lo) && r.Holds(hi) }

// Apart says whether none of [lo, hi] lies in the range.
func (r *Range) Apart(lo, hi float64) bool {
	below := r.Min != nil && (hi < *r.Min || hi == *r.Min && r.MinOpen)
	above := r.Max != nil && (lo > *r.Max || lo == *r.Max && r.MaxOpen)
	return below || above
}
