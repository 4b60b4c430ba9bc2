package storage

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"strings"
)

// readLustreMDS reads what each metadata target did (mdt, md_stats) and how long
// requests waited for the metadata service (mds.MDS, stats).
func readLustreMDS(_ context.Context, m *Machine, _ string) (Reading, error) {
	return lustreServer(m, "metadata", "mdt/*/md_stats", func(s map[string]lustreStat, c map[string]int64) {
		c[MetadataOpens] = s["open"].count
	}, "mds/MDS/mdt*/stats", MetadataRequests, MetadataWait)
}

// readLustreOSS reads the bytes of each object target (obdfilter, stats) and how
// long requests waited for the object services (ost.OSS, stats).
func readLustreOSS(_ context.Context, m *Machine, _ string) (Reading, error) {
	return lustreServer(m, "object", "obdfilter/*/stats", func(s map[string]lustreStat, c map[string]int64) {
		c[DataRead], c[DataWritten] = s["read_bytes"].sum, s["write_bytes"].sum
	}, "ost/OSS/ost*/stats", DataRequests, DataWait)
}

// lustreServer reads what the targets of a kind did, and how long requests waited for
// their services.
func lustreServer(m *Machine, kind, targets string, count func(stats map[string]lustreStat, into map[string]int64), services, requests, wait string) (Reading, error) {
	r := Reading{}
	if err := lustreInstances(m, r, targets, count); err != nil {
		return nil, err
	}
	if len(r) == 0 {
		return nil, absent("no " + kind + " target of Lustre is mounted here")
	}
	err := lustreInstances(m, r, services, func(s map[string]lustreStat, c map[string]int64) { addWaits(s, c, requests, wait) })
	return r, err
}

// readLustreJobs reads only what one batch job asked of the targets here
// (job_stats), where the clients send its name along (jobid_var).
func readLustreJobs(_ context.Context, m *Machine, job string) (Reading, error) {
	files := append(lustreFiles(m, "mdt/*/job_stats"), lustreFiles(m, "obdfilter/*/job_stats")...)
	if len(files) == 0 {
		return nil, absent("no target of Lustre is mounted here")
	}
	if job == "" {
		return nil, absent("the run names no job", "start it in a batch job, or give --agent-job")
	}
	r := Reading{}
	for _, f := range files {
		b, err := m.file(f)
		if err != nil {
			return nil, denied(err, lustreFix)
		}
		jobs, ok := parseJobStats(b)
		if !ok {
			return nil, fmt.Errorf("%s: not the YAML of job_stats (%s)", f, lustreManual)
		}
		c := map[string]int64{}
		s := jobs[job]
		if strings.Contains(f, "/mdt/") {
			c[MetadataOpens] = s["open"].count
			c[MetadataRequests] = together(s, func(name string) bool { return !strings.HasSuffix(name, "_bytes") })
		} else {
			c[DataRead], c[DataWritten] = s["read_bytes"].sum, s["write_bytes"].sum
			c[DataRequests] = together(s, func(name string) bool { return name != "read" && name != "write" })
		}
		r[path.Base(path.Dir(f))+".job_stats"] = Instance{Counters: c}
	}
	return r, nil
}

// parseJobStats reads job_stats: a YAML list of jobs, each with a line
// "  NAME: { samples: N, unit: U, min: A, max: B, sum: S, sumsq: Q }" for an
// operation. It is read by lines, since it may have tens of thousands of jobs.
func parseJobStats(b []byte) (map[string]map[string]lustreStat, bool) {
	jobs := map[string]map[string]lustreStat{}
	var now map[string]lustreStat
	head := false
	for raw := range bytes.Lines(b) {
		line := strings.TrimSpace(string(raw))
		name, rest, found := strings.Cut(strings.TrimPrefix(line, "- "), ":")
		rest = strings.TrimSpace(rest)
		switch {
		case line == "":
		case !found:
			return nil, false
		case line == "job_stats:":
			head = true
		case name == "job_id":
			now = map[string]lustreStat{}
			jobs[strings.Trim(rest, `"`)] = now
		case strings.HasPrefix(rest, "{"):
			s, ok := parseFlow(rest)
			if !ok || now == nil {
				return nil, false
			}
			now[strings.TrimSpace(name)] = s
		}
	}
	return jobs, head
}

// parseFlow reads the braces of a line of job_stats.
func parseFlow(s string) (lustreStat, bool) {
	var out lustreStat
	s, ok := strings.CutSuffix(strings.TrimPrefix(s, "{"), "}")
	if !ok {
		return out, false
	}
	for pair := range strings.SplitSeq(s, ",") {
		key, value, _ := strings.Cut(pair, ":")
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(key) {
		case "samples":
			if out.count, ok = counted(value); !ok {
				return out, false
			}
		case "unit":
			out.unit = value
		case "sum":
			if out.sum, out.summed = counted(value); !out.summed {
				return out, false
			}
		}
	}
	return out, true
}
