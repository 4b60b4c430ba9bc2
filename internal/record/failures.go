package record

// Failures is the share of an environment's trials that failed. It is no metric
// of a trial and stands in no table of a report, which counts failures beside
// each metric: claims and published tables speak of it by this name.
var Failures = Metric{ID: "failures", Unit: "percent", Better: LowerIsBetter, Title: "failures",
	What: "the share of trials that failed, with Wilson's interval"}
