package engine

import (
	"fmt"
	"maps"
	"strconv"

	"plimsoll/internal/common/yamlfile"
)

// NoLimit is the level of CPULimit and of MemoryLimit that takes the study's own
// limit away.
const NoLimit = yamlfile.None

// CPULimits and MemoryLimits are levels that a study may name, beside any other
// number of CPUs and any other size.
var (
	CPULimits    = []string{DefaultLevel, NoLimit, "0.1", "0.2", "0.25", "0.5", "0.75", "1", "1.5", "2", "3", "4", "6", "8", "16", "32", "64"}
	MemoryLimits = []string{DefaultLevel, NoLimit, "64MiB", "128MiB", "256MiB", "512MiB", "1GiB", "2GiB", "4GiB", "8GiB", "16GiB", "32GiB"}
)

// Limited takes what is no adapter's out of levels: Tuned, Build, and CPULimit and
// MemoryLimit, which go into the limits that every adapter has: those of the study,
// but for what this environment has instead. Neither argument is changed.
func Limited(levels map[string]string, study Limits) (map[string]string, Limits, error) {
	rest := maps.Clone(levels)
	for _, f := range []string{CPULimit, MemoryLimit, Tuned, Build} {
		delete(rest, f)
	}
	switch level := levels[CPULimit]; level {
	case "", DefaultLevel:
	case NoLimit:
		study.CPUs = 0
	default:
		n, ok := CPUs(level)
		if !ok {
			return nil, Limits{}, fmt.Errorf("the level %q of %s is not a number of CPUs; write one such as 0.5, or %s", level, CPULimit, NoLimit)
		}
		study.CPUs = n
	}
	switch level := levels[MemoryLimit]; level {
	case "", DefaultLevel:
	case NoLimit:
		study.MemoryBytes = 0
	default:
		n, ok := yamlfile.ParseSize(level)
		if !ok {
			return nil, Limits{}, fmt.Errorf("the level %q of %s is not a size; write one such as 512MiB, or %s", level, MemoryLimit, NoLimit)
		}
		study.MemoryBytes = n
	}
	return rest, study, nil
}

// CPUs reads a level of CPULimit that is a number of CPUs. Linux gives a group
// at least 1 ms of each 100 ms, so that less than 0.01 can't be had.
func CPUs(level string) (float64, bool) {
	n, err := strconv.ParseFloat(level, 64)
	return n, err == nil && n >= 0.01 && n <= 4096 && strconv.FormatFloat(n, 'f', -1, 64) == level
}
