package storage

import (
	"bytes"
	"context"
	"fmt"
	"strings"
)

// readNFSServer reads what the kernel's server counts, for all exports together.
func readNFSServer(_ context.Context, m *Machine, _ string) (Reading, error) {
	b, err := m.file("/proc/net/rpc/nfsd")
	if err != nil {
		return nil, absent("no NFS server of the kernel runs here")
	}
	c, err := parseNFSD(b)
	if err != nil {
		return nil, err
	}
	return Reading{"nfsd": {Counters: c}}, nil
}

// The numbers of procedures: of version 3 by RFC 1813, of version 4's operations
// by RFC 7530 and 5661.
const (
	v3Read, v3Write, v3Commit            = 6, 7, 21
	v4Commit, v4Open, v4Read, v4Write    = 5, 18, 25, 38
	v3First, v4First                     = 1, 3 // those before are no work: NULL, and the unused numbers 0 to 2
	v4Putfh, v4PutRoot, v4Save, v4Getfh  = 22, 24, 32, 10
	v4Restore, v4Sequence, v4Renew, v4ID = 31, 53, 30, 35
)

// v4Own are operations that only carry a compound on, and ask nothing of the
// file system.
var v4Own = map[int]bool{v4Putfh: true, v4PutRoot: true, 23: true, v4Save: true, v4Getfh: true, v4Restore: true, v4Sequence: true, v4Renew: true, v4ID: true, 36: true}

// parseNFSD reads /proc/net/rpc/nfsd: lines of a word and numbers, where "io" has
// the bytes read and written, "proc3" and "proc4ops" how many numbers follow and
// then the calls of each procedure. Source: the kernel's fs/nfsd/stats.c.
func parseNFSD(b []byte) (map[string]int64, error) {
	c := map[string]int64{}
	seen := false
	for raw := range bytes.Lines(b) {
		f := strings.Fields(string(raw))
		if len(f) == 0 {
			continue
		}
		switch f[0] {
		case "io", "proc3", "proc4ops":
		default:
			continue
		}
		n := make([]int64, len(f)-1)
		for i, w := range f[1:] {
			var ok bool
			if n[i], ok = counted(w); !ok {
				return nil, fmt.Errorf("/proc/net/rpc/nfsd: %q in the line %q is not a number", w, f[0])
			}
		}
		if f[0] == "io" {
			if len(n) < 2 {
				return nil, fmt.Errorf("/proc/net/rpc/nfsd: the line io has %d numbers, not 2", len(n))
			}
			c[DataRead], c[DataWritten], seen = n[0], n[1], true
			continue
		}
		if len(n) == 0 || n[0] != int64(len(n)-1) {
			return nil, fmt.Errorf("/proc/net/rpc/nfsd: the line %q does not have as many numbers as it says", f[0])
		}
		if f[0] == "proc3" {
			addProcedures(c, n[1:], v3First, func(i int) bool { return i == v3Read || i == v3Write || i == v3Commit }, nil)
		} else {
			addProcedures(c, n[1:], v4First, func(i int) bool { return i == v4Read || i == v4Write || i == v4Commit }, v4Own)
			if len(n)-1 > v4Open {
				c[MetadataOpens] += n[1+v4Open]
			}
		}
	}
	if !seen {
		return nil, fmt.Errorf("/proc/net/rpc/nfsd has no line io")
	}
	return c, nil
}

func addProcedures(c map[string]int64, calls []int64, first int, data func(int) bool, own map[int]bool) {
	for i, n := range calls {
		switch {
		case i < first || own[i]:
		case data(i):
			c[DataRequests] += n
		default:
			c[MetadataRequests] += n
		}
	}
}
