package published

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/common/stats"
)

// The files are as their author published them, to the byte.
func TestKhanChecksums(t *testing.T) {
	sums := map[string]string{
		"01-startup-latency.csv":     "c1c8c11c1164d7ec9a2d110bc07b34ceee794bfd74a75460ecbca8251e759cd5",
		"02-copyup-overhead.csv":     "6ed0f9ed4766495547f883d5ed9f21b15c5f3568ebdfc944eaf2db656387eff6",
		"03-cpu-throttling.csv":      "a50c31cf943314f4d04058fdab94e289f476109c87ae7b797cf58d3a1bbf2d40",
		"04-write-performance.csv":   "44db619493283f10e80907a771a8fb0e720393d02a76b57cc95f144c1a3800e7",
		"05-metadata-operations.csv": "50ab86271e04a4a3d4ab3b01fc04824707cf78a01a005184a75bf337a3d05400",
		"06-image-pull-time.csv":     "3ea91e36647f7034868ac6a65836d1f31f28ce4e73fba1bf83350056060bdf54",
		"07-namespace-overhead.csv":  "fe6a529c471a9d0a51ef8f965a90e8754b4aebd230aa0ec3f40f0b45794d2cde",
		"08-network-latency.csv":     "dc0da462de2c1713dd02e7af5d09c3fa4a4fd331987e6d1eee702ace0f4bba72",
		"09-memory-efficiency.csv":   "c080585c6f1ae3e16fbc3f39920bf9f53d80c91ac879aadcb28cbf0698ac0964",
	}
	files, err := khanFiles.ReadDir("khan2026")
	if err != nil || len(files) != len(sums) || len(files) != len(khanTables) {
		t.Fatalf("%d files, want %d, each with its line in khanTables (%d): %v", len(files), len(sums), len(khanTables), err)
	}
	for _, f := range files {
		text, err := khanFiles.ReadFile("khan2026/" + f.Name())
		require.NoError(t, err)
		if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != sums[f.Name()] {
			t.Errorf("%s was changed: its SHA-256 is %x", f.Name(), sum)
		}
	}
}

// The means and standard deviations are those that the author's own analysis
// printed of the same files, and the paper's ratios follow from them.
func TestKhanMeans(t *testing.T) {
	for _, c := range []struct {
		host, image, workload, metric string
		mean, sd                      float64
	}{
		{"azure-premium-ssd", "alpine", "start", "warm", 567.62, 19.24},
		{"azure-premium-ssd", "alpine", "start", "cold", 849.97, 300.87},
		{"azure-premium-ssd", "nginx", "start", "cold", 804.20, 26.34},
		{"azure-premium-ssd", "python_3.11-slim", "start", "warm", 553.57, 21.66},
		{"azure-premium-ssd", "alpine", "new-file-100mb", "time", 1353.22, 56.45},
		{"azure-premium-ssd", "alpine", "half-a-processor", "count", 60.52, 3.79},
		{"azure-premium-ssd", "alpine", "dd-256mb", "overlayfs", 21.40, 143.64},
		{"azure-premium-ssd", "alpine", "dd-256mb", "volume", 193.64, 37.60},
		{"azure-premium-ssd", "alpine", "create-500-files", "volume", 64.79, 32.46},
		{"azure-premium-ssd", "nginx", "pull", "time", 4328.51, 348.93},
		{"azure-premium-ssd", "alpine", "unshare", "time", 7.94, 2.05},
		{"azure-premium-ssd", "alpine", "ping", "host", 2.05, 0.09},
		{"azure-premium-ssd", "alpine", "three-nginx", "per_container_mem_mb", 3.29, 0.29},
	} {
		v := khanValue(t, c.host, c.image, c.workload, c.metric)
		if math.Abs(v.Value-c.mean) > 0.0051 || math.Abs(v.SD-c.sd) > 0.0051 {
			t.Errorf("%+v: %.2f with a standard deviation of %.2f", c, v.Value, v.SD)
		}
	}
	start := func(host string) float64 { return khanValue(t, host, "alpine", "start", "warm").Value }
	sd := func(host string) float64 { return khanValue(t, host, "alpine", "half-a-processor", "count").SD }
	for what, c := range map[string][2]float64{
		"HDD over SSD":                        {start("azure-standard-hdd") / start("azure-premium-ssd"), 2.04},
		"Docker Desktop over SSD":             {start("macos-docker-desktop") / start("azure-premium-ssd"), 2.69},
		"deviation of throttling, one to ten": {sd("macos-docker-desktop") / sd("azure-premium-ssd"), 9.52},
	} {
		if math.Abs(c[0]-c[1]) > 0.006 {
			t.Errorf("%s is %.3f, published is %.2f", what, c[0], c[1])
		}
	}
	if n := len(Find(Query{Source: khan2026Key})); n != 59 {
		t.Errorf("%d means", n)
	}
	if n := len(khanMeasurements()); n != 2171-1+150 { // one is N/A, and memory has two a row
		t.Errorf("%d measurements", n)
	}
}

func khanValue(t *testing.T, host, image, workload, metric string) Value {
	t.Helper()
	of := Find(Query{Source: khan2026Key, Variant: host, Image: image, Workload: workload, Metric: metric})
	if len(of) != 1 {
		t.Fatalf("%s, %s, %s, %s: %d values", host, image, workload, metric, len(of))
	}
	return of[0]
}

// The column of write speeds holds two units: dd's line ends in MB/s below 1024
// of them and in GB/s from there on, by powers of two, as BusyBox prints, and
// the number was kept without the letter. The file itself shows it, and the
// page of the study prints what follows from it.
func TestKhanWriteUnits(t *testing.T) {
	page, err := os.ReadFile("../../../docs/studies/khan2026.md")
	require.NoError(t, err)
	asFiled, read := map[[2]string][]float64{}, map[[2]string][]float64{}
	for _, m := range khanMeasurements() {
		if m.Table != "04-write-performance" {
			continue
		}
		// No number lies where a slow disk and a fast cache would meet: the two
		// heaps are sixty times apart, and the upper one ends just below 1024,
		// above the 1000 that powers of ten would allow.
		if m.Value > 1.5 && m.Value < 80 || m.Value < 1 || m.Value >= 1024 {
			t.Errorf("%+v is in neither heap", m)
		}
		key := [2]string{m.Host, m.Metric}
		asFiled[key] = append(asFiled[key], m.Value)
		if m.Value < 80 {
			m.Value *= 1024
		}
		read[key] = append(read[key], m.Value)
	}
	median := func(x []float64) float64 { return stats.Median(stats.Sorted(x)) }
	most := 0.0
	for _, host := range []string{"azure-premium-ssd", "azure-standard-hdd", "macos-docker-desktop"} {
		o, v := [2]string{host, "overlayfs"}, [2]string{host, "volume"}
		if len(read[o]) != 50 || len(read[v]) != 50 {
			t.Fatalf("%s: %d and %d values", host, len(read[o]), len(read[v]))
		}
		most = max(most, slices.Max(asFiled[o]), slices.Max(asFiled[v]))
		line := fmt.Sprintf("| %s | %.1f | %.1f | %.3f | %.0f | %.0f | %.1f |", host,
			median(asFiled[o]), median(asFiled[v]), median(asFiled[o])/median(asFiled[v]),
			median(read[o]), median(read[v]), median(read[o])/median(read[v]))
		if !strings.Contains(string(page), line) {
			t.Errorf("docs/studies/khan2026.md has no line\n%s", line)
		}
	}
	if most <= 1000 {
		t.Errorf("the largest number is %g: it does not tell powers of two from powers of ten", most)
	}
}

// The rest of what the page says of the published numbers is so too.
func TestKhanPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/studies/khan2026.md")
	require.NoError(t, err)
	for _, host := range []string{"azure-premium-ssd", "azure-standard-hdd", "macos-docker-desktop"} {
		small, large := khanValue(t, host, "alpine", "start", "warm").Value, khanValue(t, host, "python_3.11-slim", "start", "warm").Value
		line := fmt.Sprintf("| %s | %.0f | %.0f | %+.1f %% |", host, small, large, 100*(large/small-1))
		if !strings.Contains(string(page), line) {
			t.Errorf("docs/studies/khan2026.md has no line\n%s", line)
		}
	}
	// A ratio of standard deviations is not one of variances.
	ratio := khanValue(t, "macos-docker-desktop", "alpine", "half-a-processor", "count").SD / khanValue(t, "azure-premium-ssd", "alpine", "half-a-processor", "count").SD
	if words := fmt.Sprintf("%.1f times the standard deviation, which is %.0f times the variance", ratio, ratio*ratio); !strings.Contains(string(page), words) {
		t.Errorf("docs/studies/khan2026.md does not say %q", words)
	}
}
