package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// defaultStudy is what runs when none is named.
const defaultStudy = "quick"

// studyName gives the study that the arguments name.
func studyName(args []string) string {
	if len(args) == 0 {
		return defaultStudy
	}
	return args[0]
}

// outputDir chooses where the record goes, and refuses what can't be a directory before
// anybody waits for a turn.
func outputDir(dir, name string) (string, error) {
	if dir == "" {
		base := filepath.Base(name)
		base = base[:len(base)-len(filepath.Ext(base))]
		dir = fmt.Sprintf("plimsoll-run-%s-%s", time.Now().Format("20060102-150405"), base)
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return "", fail(Usage, "%s is a file: choose a new or empty directory for the record", dir)
	}
	return filepath.Abs(dir)
}

// takesRecord refuses a directory that the user names and where no new record can begin,
// before anything is looked at or made.
func takesRecord(dir string) error {
	if dir == "" {
		return nil // it gets a name of its own
	}
	abs, err := outputDir(dir, "")
	if err != nil {
		return err
	}
	return failing(record.Fresh(abs))
}

// workloadInfo is what a study must know of a workload.
func workloadInfo(x workload.Workload) study.WorkloadInfo {
	info := study.WorkloadInfo{
		Name: x.Name, Title: x.Title, Parameters: x.Parameters, NeedsDetached: x.Detached, NeedsFiles: x.HasFile(),
		NeedsStore: x.Pulls(), Metrics: x.Metrics, MetricsOf: x.MetricsOf, Small: x.Small, Commands: x.Commands(),
		Numbers: map[string]study.Numbers{},
		Needs: func(params map[string]string) study.Needs {
			n := x.NeedsOf(params)
			return study.Needs{Network: n.Network, Detached: n.Detached, Root: n.Root}
		},
	}
	for name, r := range x.Numbers {
		info.Numbers[name] = study.Numbers(r)
	}
	return info
}

// readWorkload reads a workload of the user's own for a study.
func readWorkload(path string, data []byte) (study.WorkloadInfo, error) {
	x, err := workload.Read(path, data)
	if err != nil {
		return study.WorkloadInfo{}, err
	}
	info := workloadInfo(x)
	info.Source = x.Source
	return info, nil
}
