package storage

import (
	"bytes"
	"context"
	"fmt"
	"strings"
)

// readNFSClient reads what the kernel's client counts for each NFS mount.
func readNFSClient(_ context.Context, m *Machine, _ string) (Reading, error) {
	b, err := m.file("/proc/self/mountstats")
	if err != nil {
		return nil, absent("there is no /proc/self/mountstats")
	}
	r, err := parseMountstats(b)
	if err == nil && len(r) == 0 {
		err = absent("no NFS is mounted here")
	}
	return r, err
}

// parseMountstats reads /proc/self/mountstats. A mount begins with a line
// "device D mounted on P with fstype nfs4 statvers=1.1" and ends with the next
// one; below it are lines of "KEY: numbers", and after "per-op statistics" one
// line for each operation: operations, transmissions, time-outs, bytes sent,
// bytes received, then ms in the queue, until the answer, and in all, and since
// statvers 1.1 of newer kernels errors. Source: mountstats(8) and the kernel's
// net/sunrpc/stats.c.
func parseMountstats(b []byte) (Reading, error) {
	r := Reading{}
	var now map[string]int64
	operations := false
	for raw := range bytes.Lines(b) {
		line := strings.TrimSpace(string(raw))
		if strings.HasPrefix(line, "device ") {
			now, operations = nil, false
			f := strings.Fields(line)
			i := strings.LastIndex(line, " with fstype nfs")
			if i < 0 || !strings.Contains(line[i:], "statvers=") {
				continue // another file system, or nfsd's own
			}
			if len(f) < 8 {
				return nil, fmt.Errorf("mountstats: %q has no mount point", line)
			}
			now = map[string]int64{}
			r[line[len("device "):i]] = Instance{Counters: now}
			continue
		}
		if now == nil || line == "" {
			continue
		}
		key, rest, found := strings.Cut(line, ":")
		switch {
		case line == "per-op statistics":
			operations = true
		case !found:
		case operations:
			if err := addOperation(now, key, rest); err != nil {
				return nil, err
			}
		default:
			if err := addEvents(now, key, rest); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}

// addEvents takes what a mount says of itself as a whole.
func addEvents(c map[string]int64, key, rest string) error {
	f := strings.Fields(rest)
	var take map[int]string
	switch key {
	case "age": // seconds since it was mounted: a mount made again is younger
		take = map[int]string{0: ".age"}
	case "events": // inode, dentry, data and attribute checks, then opens
		take = map[int]string{4: ClientOpens}
	case "bytes": // by read(), write(), both again with O_DIRECT, then from and to the server
		take = map[int]string{4: ClientRead, 5: ClientWritten}
	}
	for i, id := range take {
		if i >= len(f) {
			return fmt.Errorf("mountstats: the line %q has %d numbers, and the one at %d was expected", key, len(f), i+1)
		}
		n, ok := counted(f[i])
		if !ok {
			return fmt.Errorf("mountstats: %q in the line %q is not a number", f[i], key)
		}
		c[id] = n
	}
	return nil
}

// addOperation adds one line of the operations.
func addOperation(c map[string]int64, name, rest string) error {
	f := strings.Fields(rest)
	if len(f) < 8 {
		return fmt.Errorf("mountstats: operation %s has %d numbers, not 8 or more", name, len(f))
	}
	n, ok := counted(f[0])
	ms, ok2 := counted(f[7])
	wait, ok3 := times(ms, 1e6)
	if !ok || !ok2 || !ok3 {
		return fmt.Errorf("mountstats: operation %s has %q and %q where numbers belong", name, f[0], f[7])
	}
	c[ClientRequests] += n
	c[ClientWait] += wait
	switch name {
	case "NULL", "READ", "WRITE", "COMMIT":
	default:
		c[ClientMetadata] += n
	}
	return nil
}
