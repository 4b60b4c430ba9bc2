package run

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"plimsoll/internal/measure/engine/cgroup"
)

// inForce adds to a payload's report the limits of the groups above its own. A
// container may be in a group without limits below one that has them, and see
// nothing of that: the limit in force is the least on the way to the root. It
// is only for payloads whose paths are the host's.
func (i *insider) inForce(report map[string]string) map[string]string {
	if i.boot == "" || report["boot_id"] != i.boot || report["ns.cgroup"] != i.host["cgroup"] {
		return report
	}
	groups, v1 := map[string]string{}, map[string]bool{}
	for key, path := range report {
		list, ok := strings.CutPrefix(key, "cgroup.")
		switch {
		case !ok:
		case list == "v2":
			groups[""] = path
		default:
			groups[list] = path
			for c := range strings.SplitSeq(list, ",") {
				v1[c] = true
			}
		}
	}
	f := cgroup.InForceAt(groups)
	out := maps.Clone(report)
	set := func(name, value, at string) { out["limit."+name], out["limit."+name+".at"] = value, "host:"+at }
	if own := memoryIn(report); f.MemoryBytes > 0 && (own == 0 || own > f.MemoryBytes) {
		name := "memory.max"
		if v1["memory"] {
			name = "memory.limit_in_bytes"
		}
		set(name, strconv.FormatInt(f.MemoryBytes, 10), f.MemoryAt)
	}
	if own := cpusIn(report); f.CPUs > 0 && (own == 0 || own > f.CPUs*1.001) { // files hold whole numbers
		const period = 100_000
		quota := strconv.Itoa(int(f.CPUs*period + 0.5))
		if v1["cpu"] {
			set("cpu.cfs_quota_us", quota, f.CPUsAt)
			set("cpu.cfs_period_us", strconv.Itoa(period), f.CPUsAt)
		} else {
			set("cpu.max", fmt.Sprintf("%s %d", quota, period), f.CPUsAt)
		}
	}
	return out
}

// memoryIn is the memory limit in a report, bytes; 0 is none.
func memoryIn(report map[string]string) int64 {
	for _, name := range []string{"limit.memory.max", "limit.memory.limit_in_bytes"} {
		// Version 1 says "no limit" by a number near the largest.
		if n, err := strconv.ParseInt(report[name], 10, 64); err == nil && n < 1<<60 {
			return n
		}
	}
	return 0
}

// cpusIn is the CPU limit in a report; 0 is none.
func cpusIn(report map[string]string) float64 {
	quota, period, ok := strings.Cut(report["limit.cpu.max"], " ")
	if !ok {
		quota, period = report["limit.cpu.cfs_quota_us"], report["limit.cpu.cfs_period_us"]
	}
	q, err := strconv.ParseFloat(quota, 64)
	p, err2 := strconv.ParseFloat(period, 64)
	if err != nil || err2 != nil || q <= 0 || p <= 0 {
		return 0
	}
	return q / p
}
