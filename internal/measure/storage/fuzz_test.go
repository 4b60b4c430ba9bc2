package storage

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"plimsoll/internal/common/require"
)

// parsers are all that read what others have written.
var parsers = map[string]func([]byte){
	"lustre stats": func(b []byte) {
		stats, _, _ := parseLustreStats(b)
		for _, s := range stats {
			if ns, known := s.ns(); known && ns < 0 && s.sum >= 0 {
				panic(fmt.Sprintf("%+v waited for %d ns", s, ns))
			}
		}
	},
	"job_stats":       func(b []byte) { parseJobStats(b) },
	"mountstats":      func(b []byte) { _, _ = parseMountstats(b) },
	"nfsd":            func(b []byte) { _, _ = parseNFSD(b) },
	"gluster":         func(b []byte) { _, _ = parseGluster(b, glusterUnit(b)) },
	"ceph client":     func(b []byte) { _, _ = parseCephClient(b) },
	"ceph mds":        func(b []byte) { _, _ = parseCephMDS(b) },
	"ceph osd":        func(b []byte) { _, _ = parseCephOSD(b) },
	"moosefs":         func(b []byte) { _, _ = parseMoose(b) },
	"beegfs metadata": func(b []byte) { _, _ = parseBeeMeta(b) },
	"beegfs storage":  func(b []byte) { _, _ = parseBeeStorage(b) },
}

// FuzzCounters: whatever the bytes are, a parser comes back.
func FuzzCounters(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		f.Fatal("no fixtures: ", err)
	}
	for _, name := range files {
		a, err := txtar.ParseFile(name)
		require.NoError(f, err)
		for _, part := range a.Files {
			f.Add(part.Data)
		}
	}
	f.Fuzz(func(_ *testing.T, b []byte) {
		for _, parse := range parsers {
			parse(b)
		}
	})
}
