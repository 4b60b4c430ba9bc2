package published

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

// everartsLines are the lines of the data set's own file, taken apart by hand.
func everartsLines(t *testing.T) [][]string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(everartsData))
	require.NoError(t, err)
	text, err := io.ReadAll(z)
	require.NoError(t, err)
	if strings.Contains(string(text), `"`) {
		t.Fatal("the file has quotes, which this test does not read")
	}
	var out [][]string
	for line := range strings.Lines(string(text)) {
		out = append(out, strings.Split(strings.TrimSpace(line), ","))
	}
	return out[1:]
}

// What the program has of the data set is what its file says, to the bit.
func TestEverartsData(t *testing.T) {
	const want = "471b836c99a230b86db1232f98c3726d7b3f40f97a8dbb41d319c3740838b11c"
	if sum := sha256.Sum256(everartsData); hex.EncodeToString(sum[:]) != want {
		t.Errorf("the data set was changed: its SHA-256 is %x", sum)
	}
	lines, rows := everartsLines(t), EverartsData()
	if len(rows) != 33023 || len(lines) != len(rows) {
		t.Fatalf("%d rows of %d lines", len(rows), len(lines))
	}
	for i, r := range rows {
		l := lines[i]
		rootless := map[bool]string{true: "yes", false: "no"}[r.Rootless]
		if words := []string{r.Manager, r.Image, r.Runtime, r.Storage, rootless, r.Workload, r.Size, strconv.Itoa(r.Number)}; !slices.Equal(words, l[:8]) {
			t.Fatalf("line %d is %v, not %v", i+2, l[:8], words)
		}
		for k, v := range []float64{r.Create, r.Start, r.Exec, r.Response, r.Ping} {
			want, err := strconv.ParseFloat(l[8+k], 64)
			switch {
			case l[8+k] == "":
				want = math.NaN()
			case err != nil:
				t.Fatal(err)
			case k == 4: // seconds
				want *= 1000
			}
			if math.Float64bits(v) != math.Float64bits(want) && !(math.IsNaN(v) && math.IsNaN(want)) {
				t.Errorf("line %d, column %d: %v, the file has %q", i+2, 9+k, v, l[8+k])
			}
		}
	}
	rows[0].Create = 1
	if EverartsData()[0].Create == 1 {
		t.Error("a caller can change what was published")
	}
}

// The matrix is the paper's: 72 configurations with the image.
func TestEverartsConfigurations(t *testing.T) {
	all := map[string]map[string]bool{}
	for _, r := range EverartsData() {
		c := r.Configuration() + " " + r.Image
		if all[c] == nil {
			all[c] = map[string]bool{}
		}
		all[c][r.Workload] = true
	}
	if len(all) != 72 {
		t.Errorf("%d configurations", len(all))
	}
	without := 0
	for _, has := range all {
		if !has["Ping"] {
			without++
		}
		if !has["Hello World"] {
			t.Error("a configuration without Hello World")
		}
	}
	if without != 4 {
		t.Errorf("%d configurations have no ping", without)
	}
}

// The authors' statistic and the median, against the numbers of their notes and
// by hand.
func TestEverartsValues(t *testing.T) {
	find := func(metric string) Value {
		t.Helper()
		all := Find(Query{Source: "everarts2020", Table: EverartsTable("Hello World"), Engine: "docker", Variant: "runc/overlay", Image: "alpine", Metric: metric})
		if len(all) != 1 {
			t.Fatalf("%d values of %s", len(all), metric)
		}
		return all[0]
	}
	for metric, want := range map[string]float64{"create": 87, "start": 569, "exec": 387} {
		v := find(metric)
		if math.Round(v.Median.Value) != want || !(v.Median.Lo < v.Median.Value && v.Median.Value < v.Median.Hi) {
			t.Errorf("%s: the median is %+v, not %v", metric, *v.Median, want)
		}
		if v.Value > v.Median.Hi || v.Row() != "hello-world/"+metric || v.Name() != "docker/runc/overlay" {
			t.Errorf("%+v", v)
		}
	}
	var by []float64
	for _, l := range everartsLines(t) {
		if strings.Join(l[:7], ",") == "docker,alpine,runc,overlay,no,Hello World," {
			v, err := strconv.ParseFloat(l[9], 64)
			require.NoError(t, err)
			by = append(by, v)
		}
	}
	slices.Sort(by)
	sum := 0.0
	for _, v := range by[:15] {
		sum += v
	}
	if got := find("start").Value; len(by) != 20 || math.Abs(got-sum/15) > 1e-9 {
		t.Errorf("the mean without the five largest of %d is %v, not %v", len(by), got, sum/15)
	}
	if !math.IsNaN(trimmedMean([]float64{1, 2, 3, 4, 5})) {
		t.Error("a mean of nothing")
	}
	if ping := Find(Query{Source: "everarts2020", Table: EverartsTable("Ping")}); len(ping) != 68 || ping[0].Value < 5 || ping[0].Value > 30 || ping[0].Unit != "ms" {
		t.Errorf("%d values of ping, the first %+v", len(ping), ping[0])
	}
	if n := len(Find(Query{Source: "baresi2024"})); n == 0 || len(Find(Query{})) <= n {
		t.Error("the data set is not among all values")
	}
}
