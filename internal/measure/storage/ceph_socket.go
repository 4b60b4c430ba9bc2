package storage

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const cephManual = "https://docs.ceph.com/en/latest/dev/perf_counters/"

// cephSockets are where a Ceph process answers questions about itself: its admin
// socket, by default below /run/ceph.
func cephSockets(m *Machine, kind string) []string {
	var out []string
	for _, s := range m.glob("/run/ceph/*.asok", "/run/ceph/*/*.asok", "/var/run/ceph/*.asok") {
		if strings.Contains(path.Base(s), kind+".") || strings.HasPrefix(path.Base(s), kind) {
			out = append(out, s)
		}
	}
	return out
}

// perfDump asks an admin socket for the process's counters: a line of JSON that
// ends in a zero byte goes in, four bytes of length (big-endian) and JSON come
// out.
func perfDump(ctx context.Context, path string) ([]byte, error) {
	conn, err := (&net.Dialer{Timeout: programLimit}).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(programLimit)); err != nil {
		return nil, err
	}
	if _, err := conn.Write([]byte(`{"prefix":"perf dump","format":"json"}` + "\x00")); err != nil {
		return nil, err
	}
	var head [4]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return nil, fmt.Errorf("%s: no length came: %w", path, err)
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > mostBytes {
		return nil, fmt.Errorf("%s: it announces %d bytes, more than %d", path, n, mostBytes)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(conn, b); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return b, nil
}

// readCeph reads every process of a kind.
func readCeph(ctx context.Context, m *Machine, kind string, parse parser) (Reading, error) {
	r := Reading{}
	var last error
	for _, s := range cephSockets(m, kind) {
		b, err := perfDump(ctx, m.path(s))
		if err != nil {
			// A process that was killed leaves its socket behind; one that may not
			// be asked is another matter.
			last = denied(err, "run the agent as root or as the user ceph")
			continue
		}
		c, err := parse(b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s, err)
		}
		r[strings.TrimSuffix(path.Base(s), ".asok")] = Instance{Born: identity(m.path(s)), Counters: c}
	}
	if len(r) == 0 && Absent(last) {
		return nil, last
	}
	if len(r) == 0 {
		return nil, absent("no process of Ceph answers below /run/ceph")
	}
	return r, nil
}

// identity tells a socket from one that was made later under its name: a process
// makes it when it starts.
func identity(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return strconv.FormatUint(s.Ino, 10) + " " + strconv.FormatInt(s.Ctim.Nano(), 10)
	}
	return ""
}

// cephCounters are the counters of a process, by section and name. A counter is
// a number, or an average: a number of times and a sum, of seconds mostly.
type cephCounters map[string]map[string]cephCounter

type cephCounter struct {
	n   int64   // the number, or how often
	sum float64 // of an average
}

func (c *cephCounter) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] != '{' {
		f, err := strconv.ParseFloat(string(b), 64)
		if err != nil || f < 0 || f > 1e18 {
			*c = cephCounter{} // a state or a level that is none of ours
			return nil
		}
		c.n = int64(f)
		if n, err := strconv.ParseInt(string(b), 10, 64); err == nil {
			c.n = n // exact beyond 2^53
		}
		return nil
	}
	var avg struct {
		Count int64           `json:"avgcount"`
		Sum   json.RawMessage `json:"sum"`
	}
	if json.Unmarshal(b, &avg) != nil {
		return nil // a histogram
	}
	c.n = max(avg.Count, 0)
	if f, err := strconv.ParseFloat(string(avg.Sum), 64); err == nil && f >= 0 && f < 9e9 {
		c.sum = f
	}
	return nil
}

// ns is the sum of an average of seconds, in ns.
func (c cephCounter) ns() int64 { return int64(c.sum * 1e9) }

func parseCeph(b []byte, section string) (cephCounters, error) {
	var c cephCounters
	if err := json.Unmarshal(b, &c); err != nil {
		return nil, fmt.Errorf("perf dump: %w", err)
	}
	if c[section] == nil {
		return nil, fmt.Errorf("perf dump has no section %q (%s)", section, cephManual)
	}
	return c, nil
}
