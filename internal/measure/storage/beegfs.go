package storage

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"
)

const beegfsManual = "https://doc.beegfs.io/7.4/advanced_topics/client_stats.html"

// readBee asks for what all clients together asked of the servers of a kind since
// these were started.
func readBee(ctx context.Context, m *Machine, kind string, parse parser) (Reading, error) {
	if _, err := m.lookPath("beegfs-ctl"); err != nil {
		return nil, absent("there is no beegfs-ctl here")
	}
	out, err := m.run(ctx, "beegfs-ctl", "--clientstats", "--nodetype="+kind, "--interval=0", "--allstats")
	if err != nil {
		return nil, err
	}
	c, err := parse(out)
	if err != nil {
		return nil, fmt.Errorf("beegfs-ctl --clientstats --nodetype=%s: %w", kind, err)
	}
	return Reading{kind: {Counters: c}}, nil
}

// beePair is a number with what it counts behind it in brackets.
var beePair = regexp.MustCompile(`(\d+) \[([^\]\s]+)\]`)

// parseBeeSum reads the line "Sum:", which has all clients together, as
// "Sum:  120 [sum]  30 [open]  30 [close] …".
func parseBeeSum(b []byte) (map[string]int64, error) {
	for raw := range bytes.Lines(b) {
		rest, found := strings.CutPrefix(strings.TrimSpace(string(raw)), "Sum:")
		if !found {
			continue
		}
		out := map[string]int64{}
		for _, p := range beePair.FindAllStringSubmatch(rest, -1) {
			n, ok := counted(p[1])
			if !ok {
				return nil, fmt.Errorf("%q is not a number", p[1])
			}
			out[p[2]] = n
		}
		if _, ok := out["sum"]; !ok {
			return nil, fmt.Errorf("the line Sum: has no [sum]")
		}
		return out, nil
	}
	return nil, fmt.Errorf("no line begins with Sum: (%s)", beegfsManual)
}

func parseBeeMeta(b []byte) (map[string]int64, error) {
	s, err := parseBeeSum(b)
	if err != nil {
		return nil, err
	}
	// A file that is looked up, opened or made in one request has a name of its own.
	opens := s["open"] + s["openLI"] + s["create"] + s["createLI"]
	return map[string]int64{MetadataRequests: s["sum"], MetadataOpens: opens}, nil
}

func parseBeeStorage(b []byte) (map[string]int64, error) {
	s, err := parseBeeSum(b)
	if err != nil {
		return nil, err
	}
	c := map[string]int64{DataRequests: s["sum"]}
	for name, unit := range map[string]int64{"B": 1, "KiB": 1 << 10, "MiB": 1 << 20} {
		for suffix, id := range map[string]string{"-rd": DataRead, "-wr": DataWritten, "-rd/s": DataRead, "-wr/s": DataWritten} {
			n, there := s[name+suffix]
			if !there {
				continue
			}
			bytes, ok := times(n, unit)
			if !ok {
				return nil, fmt.Errorf("%d %s%s is too much", n, name, suffix)
			}
			c[id] = bytes
		}
	}
	return c, nil
}
