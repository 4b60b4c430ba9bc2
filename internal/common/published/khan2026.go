package published

import (
	"cmp"
	"embed"
	"math"
	"slices"
	"strings"
	"sync"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
)

// khan2026Key is the study whose raw measurements are here.
const khan2026Key = "khan2026"

// khanFiles are khan2026's raw measurements as their author published them, one
// file a test, with the host in front: all three hosts ran one protocol.
// Source: github.com/opscart/docker-internals-guide, research/results. Its
// README names the MIT licence; the file LICENSE beside it is empty.
//
//go:embed khan2026/*.csv
var khanFiles embed.FS

// Measurement is one raw value of khan2026. The number is the file's: nothing
// is corrected, left out or given another unit.
type Measurement struct {
	Table string // the file's name without .csv
	Host  string
	Image string
	// Workload and Metric are what was done and which of its cases or columns.
	Workload, Metric string
	Unit             string
	Better           record.Direction
	Value            float64
}

// Raw lists the raw values of a study on several hosts, in the order of its files; nil
// where none were published.
func Raw(source string) []Measurement {
	if source != khan2026Key {
		return nil
	}
	return slices.Clone(khanMeasurements())
}

// RawSources are the studies that Raw has.
func RawSources() []string { return []string{khan2026Key} }

// khanFile says where the values of a file stand.
type khanFile struct {
	table, workload, unit string
	// image and metric are columns; where a file has none, fixed gives the word.
	image, metric string
	fixed         string
	// values are the columns with numbers; of several, each is a metric.
	values []string
	better record.Direction
	note   string
}

// bareImage is the image of the tests that name none.
const bareImage = "alpine"

var khanTables = []khanFile{
	{table: "01-startup-latency", workload: "start", unit: "ms", image: "image", metric: "mode", values: []string{"startup_ms"}, better: record.LowerIsBetter},
	{table: "02-copyup-overhead", workload: "new-file-100mb", unit: "ms", fixed: "time", values: []string{"copyup_ms"}, better: record.LowerIsBetter,
		note: "called copy-up; the file is new"},
	{table: "03-cpu-throttling", workload: "half-a-processor", unit: "%", fixed: "count", values: []string{"measured_pct"}, better: record.LowerIsBetter,
		note: "50 would be exact"},
	{table: "04-write-performance", workload: "dd-256mb", unit: "MB/s", metric: "mode", values: []string{"write_speed_mbps"}, better: record.HigherIsBetter,
		note: "GB/s and MB/s mixed in one column"},
	{table: "05-metadata-operations", workload: "create-500-files", unit: "ms", metric: "mode", values: []string{"duration_ms"}, better: record.LowerIsBetter},
	{table: "06-image-pull-time", workload: "pull", unit: "ms", image: "image", fixed: "time", values: []string{"pull_time_ms"}, better: record.LowerIsBetter},
	{table: "07-namespace-overhead", workload: "unshare", unit: "ms", fixed: "time", values: []string{"duration_ms"}, better: record.LowerIsBetter},
	{table: "08-network-latency", workload: "ping", unit: "ms", metric: "mode", values: []string{"avg_rtt_ms"}, better: record.LowerIsBetter},
	{table: "09-memory-efficiency", workload: "three-nginx", unit: "MB", values: []string{"per_container_mem_mb", "total_mem_mb"}, better: record.LowerIsBetter},
}

// khanMeasurements lists every raw value of khan2026, in the order of its files.
var khanMeasurements = sync.OnceValue(func() []Measurement {
	var out []Measurement
	for i := range khanTables {
		out = append(out, khanTables[i].read()...)
	}
	return out
})

// read reads one file. What is no number there ("N/A", where a test could not
// run) is no value.
func (f *khanFile) read() []Measurement {
	text, err := khanFiles.ReadFile("khan2026/" + f.table + ".csv")
	if err != nil {
		panic("published: " + err.Error())
	}
	head, _, _ := strings.Cut(string(text), "\n")
	columns := strings.Split(strings.TrimSpace(head), ",")
	at := func(row []string, column, otherwise string) string {
		if column == "" {
			return otherwise
		}
		return row[slices.Index(columns, column)]
	}
	var out []Measurement
	for _, row := range rows(string(text), len(columns)) {
		for _, column := range f.values {
			said := at(row, column, "")
			if said == "N/A" {
				continue
			}
			metric := cmp.Or(at(row, f.metric, f.fixed), column)
			out = append(out, Measurement{Table: f.table, Host: at(row, "host", ""), Image: at(row, f.image, bareImage),
				Workload: f.workload, Metric: metric, Unit: f.unit, Better: f.better, Value: number(said)})
		}
	}
	return out
}

// rounded keeps three places, one more than the author's own analysis prints.
func rounded(v float64) float64 { return math.Round(1000*v) / 1000 }

// khanValues are the means and standard deviations of the raw values, by host:
// the engine is Docker everywhere, the host stands as its variant.
func khanValues() []Value {
	var out []Value
	for i := range khanTables {
		f := &khanTables[i]
		var cells []Value
		x := map[int][]float64{}
		for _, m := range khanMeasurements() {
			if m.Table != f.table {
				continue
			}
			k := slices.IndexFunc(cells, func(v Value) bool {
				return v.Variant == m.Host && v.Image == m.Image && v.Metric == m.Metric
			})
			if k < 0 {
				k = len(cells)
				cells = append(cells, Value{Source: khan2026Key, Table: m.Table, Engine: "docker", Variant: m.Host, Image: m.Image,
					Workload: m.Workload, Metric: m.Metric, Unit: m.Unit, Better: f.better, CI95: math.NaN(), Note: f.note})
			}
			x[k] = append(x[k], m.Value)
		}
		for k := range cells {
			mean, se, _ := stats.TMoments(x[k])
			cells[k].Value, cells[k].SD, cells[k].Raw = rounded(mean), rounded(se*math.Sqrt(float64(len(x[k])))), x[k]
		}
		out = append(out, cells...)
	}
	return out
}
