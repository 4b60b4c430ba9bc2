package workload

import "plimsoll/internal/record"

// DensityMetrics and LoadMetrics are what a trial of the workloads density and
// load reports. The door has them, since the right wing derives them from the
// time series.
var (
	DensityMetrics = record.DensityMetrics
	LoadMetrics    = record.LoadMetrics
)
