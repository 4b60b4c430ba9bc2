package storage

import (
	"context"
	"fmt"
	"path"
)

// lustreFiles gives a pattern below each place where Lustre's versions keep
// their parameters; lctl get_param looks in the same.
func lustreFiles(m *Machine, pattern string) []string {
	var out []string
	for _, root := range []string{"/proc/fs/lustre/", "/sys/kernel/debug/lustre/", "/sys/fs/lustre/"} {
		out = append(out, m.glob(root+pattern)...)
	}
	return out
}

const lustreFix = "run the agent as root: Lustre keeps this file below /sys/kernel/debug"

// lustreInstances reads every stats file of a pattern, and has each turned into
// counters.
func lustreInstances(m *Machine, into Reading, pattern string, count func(stats map[string]lustreStat, into map[string]int64)) error {
	for _, f := range lustreFiles(m, pattern) {
		b, err := m.file(f)
		if err != nil {
			return denied(err, lustreFix)
		}
		stats, started, ok := parseLustreStats(b)
		if !ok {
			return fmt.Errorf("%s: not the lines of a stats file (%s)", f, lustreManual)
		}
		c := map[string]int64{}
		count(stats, c)
		// The folder is the mount or the target; what lies above is the device.
		kind := path.Base(path.Dir(path.Dir(f)))
		into[kind+"."+path.Base(path.Dir(f))+"."+path.Base(f)] = Instance{Born: started, Counters: c}
	}
	return nil
}

// clientMetadata are the lines of llite's stats that are questions of metadata.
var clientMetadata = map[string]bool{
	"open": true, "close": true, "getattr": true, "setattr": true, "create": true, "link": true, "unlink": true,
	"symlink": true, "mkdir": true, "rmdir": true, "mknod": true, "rename": true, "readdir": true, "statfs": true,
	"getxattr": true, "setxattr": true, "listxattr": true, "removexattr": true, "lookup": true, "alloc_inode": false,
}

// readLustreClient reads llite (what programs ask of a mount), and osc and mdc
// (what the client asks of object and metadata servers).
func readLustreClient(_ context.Context, m *Machine, _ string) (Reading, error) {
	r := Reading{}
	err := lustreInstances(m, r, "llite/*/stats", func(s map[string]lustreStat, c map[string]int64) {
		c[ClientOpens] = s["open"].count
		c[ClientMetadata] = together(s, func(name string) bool { return clientMetadata[name] })
	})
	if err != nil {
		return nil, err
	}
	for _, device := range []string{"osc", "mdc"} {
		err := lustreInstances(m, r, device+"/*/stats", func(s map[string]lustreStat, c map[string]int64) {
			// What goes over the network is the object clients': llite's lines
			// count what the client's cache answers, too.
			if device == "osc" {
				c[ClientRead], c[ClientWritten] = s["read_bytes"].sum, s["write_bytes"].sum
			}
			addWaits(s, c, ClientRequests, ClientWait)
		})
		if err != nil {
			return nil, err
		}
	}
	if len(r) == 0 {
		return nil, absent("no Lustre is mounted here")
	}
	return r, nil
}

// addWaits takes the number of requests and how long they waited from the line
// req_waittime.
func addWaits(s map[string]lustreStat, c map[string]int64, requests, wait string) {
	w := s["req_waittime"]
	c[requests] += w.count
	if ns, ok := w.ns(); ok || w.count == 0 {
		c[wait] += ns
	}
}
