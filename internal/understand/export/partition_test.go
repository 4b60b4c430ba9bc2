package export

import (
	"bytes"
	"net/url"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
)

// A name can't leave its folder, be taken for another one or hide, and reads back.
func TestPartition(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range []string{"quick", "../../etc", "a/b", "a%2Fb", "..", ".", ".x", "ü b", "a=b", "", "x\x00y", "A"} {
		run := &record.Run{ID: name, Started: time.Date(2026, 3, 1, 23, 30, 0, 0, time.FixedZone("", -3600))}
		run.Study.Name, run.Host.Name = name, name
		p := Partition(run)
		parts := strings.Split(p, "/")
		if len(parts) != 4 || parts[2] != "date=2026-03-02" || path.Clean(p) != p || strings.HasPrefix(parts[3], ".") || seen[p] {
			t.Errorf("%q lies at %s", name, p)
		}
		seen[p] = true
		study := strings.TrimPrefix(parts[0], "study=")
		if back, err := url.PathUnescape(study); name != "" && (err != nil || back != name) {
			t.Errorf("%q reads back as %q: %v", name, back, err)
		}
	}
}

// A file has every value, no column that its path has, and the machine.
func TestWritePartition(t *testing.T) {
	s := recordtest.Fleet(1, 6)[0]
	r := s.Open(t)
	var b, plain bytes.Buffer
	if err := WritePartition(&b, r, Options{}); err != nil {
		t.Fatal(err)
	}
	if err := Write(&plain, "parquet", r, Options{}); err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := parquet.OpenFile(bytes.NewReader(plain.Bytes()), int64(plain.Len()))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range f.Schema().Columns() {
		names = append(names, c[0])
	}
	if f.NumRows() != whole.NumRows() || f.NumRows() == 0 || slices.Contains(names, "study") || slices.Contains(names, "host") || !slices.Contains(names, "machine") || !slices.Contains(names, "factor_runtime") {
		t.Errorf("%d rows, want %d, with the columns %v", f.NumRows(), whole.NumRows(), names)
	}
	if err := WritePartition(&b, r, Options{Metric: "nothing"}); err == nil {
		t.Error("a metric that there is not was written")
	}
}
