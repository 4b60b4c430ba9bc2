package record

// LoadSamples is the collector's name of a load trial's series: one LoadStep a
// line.
const LoadSamples = "load"

// LoadStep is one arrival, or the sum of one probe, after its arrivals.
type LoadStep struct {
	// Probe is the number of the probe, from 0. With a given rate there is one.
	Probe int `json:"probe"`
	// Intended is when the container was to be requested; the other stamps are
	// 0 where it did not come to that. All are ns of CLOCK_MONOTONIC.
	Intended int64 `json:"intended,omitempty"`
	Request  int64 `json:"request,omitempty"`
	Ready    int64 `json:"ready,omitempty"`
	Removed  int64 `json:"removed,omitempty"`
	// InFlight is how many containers were on their way when this one was to
	// be requested: the queue.
	InFlight int `json:"in_flight,omitempty"`
	// Class says why it failed, where it did.
	Class Class `json:"class,omitempty"`
	// Refused: too many were in flight, and it was not requested.
	Refused bool `json:"refused,omitempty"`

	Sum *LoadProbe `json:"sum,omitempty"`
}

// LoadProbe is how one rate went.
type LoadProbe struct {
	Rate float64 `json:"rate"` // arrivals a second, as intended
	// Arrivals were intended, Done were ready and removed, Failed failed,
	// Refused were not requested.
	Arrivals int `json:"arrivals"`
	Done     int `json:"done"`
	Failed   int `json:"failed"`
	Refused  int `json:"refused"`
	// Achieved is Done over the time from the first intended start to the last end.
	Achieved float64 `json:"achieved"`
	// Late is how many were ready later than the bound (of a search), or not
	// at all; Holds says whether so few that the rate holds.
	Late  int  `json:"late,omitempty"`
	Holds bool `json:"holds,omitempty"`
	// Doubtful: within what chance does to so many arrivals it might be the
	// other way round.
	Doubtful    bool   `json:"doubtful,omitempty"`
	MaxInFlight int    `json:"max_in_flight"`
	Limit       *Limit `json:"limit,omitempty"`
	// LagNS is how late we ourselves were at most, from the intended start to
	// the hand-over to the engine's adapter.
	LagNS int64 `json:"lag_ns"`
}

// The ids of the metrics of a load.
const (
	LoadLatency  = "latency-"    // and p50, p95 or p99: intended start to ready
	LoadWhole    = "turnaround-" // the same, to removed
	LoadOffered  = "offered-rate"
	LoadAchieved = "achieved-rate"
	LoadFailed   = "failed-share"
	LoadInFlight = "in-flight"
	LoadMaxRate  = "max-rate"
	LoadNextRate = "max-rate-fails"
)

// LoadQuantiles are those that LoadLatency and LoadWhole are given for.
var LoadQuantiles = []struct {
	Name string
	Q    float64
}{{"p50", 0.5}, {"p95", 0.95}, {"p99", 0.99}}

// LoadMetrics are in the order in which a report shows them.
var LoadMetrics = loadMetrics()

func loadMetrics() []Metric {
	out := []Metric{
		{ID: LoadMaxRate, Unit: "1/s", Better: HigherIsBetter, Title: "highest rate",
			What: "containers a second that held the bound on the tail"},
		{ID: LoadNextRate, Unit: "1/s", Better: HigherIsBetter, Title: "fails at",
			What: "the lowest rate tried that did not hold it: the highest lies between the two"},
	}
	for _, q := range LoadQuantiles {
		out = append(out, Metric{ID: LoadLatency + q.Name, Unit: "ns", Better: LowerIsBetter, Title: "latency " + q.Name,
			What: "from the intended start to the payload's first byte, queueing and all; only where there are arrivals enough for this quantile"})
	}
	for _, q := range LoadQuantiles {
		out = append(out, Metric{ID: LoadWhole + q.Name, Unit: "ns", Better: LowerIsBetter, Title: "turnaround " + q.Name,
			What: "from the intended start until the container is gone"})
	}
	return append(out,
		Metric{ID: LoadAchieved, Unit: "1/s", Better: HigherIsBetter, Title: "achieved",
			What: "containers a second that came to their end"},
		Metric{ID: LoadOffered, Unit: "1/s", Better: HigherIsBetter, Title: "offered",
			What: "containers a second that were to be requested"},
		Metric{ID: LoadInFlight, Unit: "containers", Better: LowerIsBetter, Title: "in flight",
			What: "the longest queue"},
		Metric{ID: LoadFailed, Unit: "ratio", Better: LowerIsBetter, Title: "failed",
			What: "the share of arrivals that failed or had to be refused"})
}
