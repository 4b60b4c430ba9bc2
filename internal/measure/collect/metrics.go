//go:build linux

package collect

import "plimsoll/internal/record"

// summary is one metric of a series: columns, and what is made of each; the
// results are added up.
type summary struct {
	metric  record.Metric
	columns []string
	how     func(values []int64) (int64, bool)
	scale   float64
}

// Metrics are the metrics that Values may give. The lower the better, all of
// them: they are what a trial costs the machine.
func Metrics() []record.Metric {
	out := make([]record.Metric, len(summaries))
	for i, s := range summaries {
		out[i] = s.metric
	}
	return out
}

func sum(id, unit, title, what string, how func([]int64) (int64, bool), columns ...string) summary {
	return summary{
		metric:  record.Metric{ID: id, Unit: unit, Better: record.LowerIsBetter, Title: title, What: what},
		columns: columns, how: how, scale: 1,
	}
}

// summaries are in the order in which a report shows them.
var summaries = append([]summary{
	sum("payload-cpu", "ns", "CPU, payload", "CPU time of the payload, by its control group; without one of its own by its processes, up to the last sample", grown, "payload-cpu"),
	sum("payload-memory-peak", "bytes", "memory peak", "the most that the payload's control group was charged with, page cache and kernel memory too", highest, "payload-memory-peak"),
	sum("payload-anon-peak", "bytes", "anonymous", "the most anonymous memory that was seen in the payload's control group", highest, "payload-anon"),
	sum("payload-kernel-peak", "bytes", "kernel memory", "the most kernel memory that was seen in the payload's control group", highest, "payload-kernel"),
	sum("payload-pss-peak", "bytes", "PSS, payload", "the largest proportional set size of the payload's processes that was seen", highest, "payload-pss"),
	sum("payload-throttled", "ns", "throttled", "for how long the payload's CPU limit held it back", grown, "payload-throttled"),
	sum("payload-switches", "count", "switches", "context switches of the payload's threads, as far as they were seen", grown, "payload-switches"),
	sum("payload-block-read", "bytes", "disk read", "read from disks by the payload's control group", grown, "payload-block-read"),
	sum("payload-block-written", "bytes", "disk written", "written to disks by the payload's control group (version 1: without what the kernel writes back later)", grown, "payload-block-written"),
	sum("payload-storage-read", "bytes", "fetched", "what the payload's processes had fetched from storage, up to the last sample", grown, "payload-storage-read"),
	sum("payload-storage-written", "bytes", "given to write", "what the payload's processes gave to be written to storage, up to the last sample", grown, "payload-storage-written"),
	sum("payload-received", "bytes", "received", "received in the payload's own network, up to the last sample", grown, "payload-received"),
	sum("payload-sent", "bytes", "sent", "sent in the payload's own network, up to the last sample", grown, "payload-sent"),
	sum("payload-cpu-pressure", "ns", "waited for CPU", "for how long some of the payload waited for a processor", grown, "payload-cpu-pressure"),
	sum("payload-memory-pressure", "ns", "waited for memory", "for how long some of the payload waited for memory", grown, "payload-memory-pressure"),
	sum("payload-io-pressure", "ns", "waited for disk", "for how long some of the payload waited for a disk", grown, "payload-io-pressure"),
	sum("monitor-cpu", "ns", "CPU, monitor", "CPU time of the processes that the engine keeps for the container, without their children", grown, "monitor-cpu"),
	sum("monitor-pss", "bytes", "PSS, monitor", "the largest proportional set size of these processes that was seen", highest, "monitor-pss"),
	sum("client-pss", "bytes", "PSS, client", "the largest proportional set size of the command lines that was seen", highest, "client-pss"),
	sum("daemon-cpu", "ns", "CPU, daemon", "CPU time of the engine's daemons, and of what they called and waited for (to 10 ms)", grown, "daemon-cpu", "daemon-children-cpu"),
	sum("daemon-pss-growth", "bytes", "PSS, daemon", "by how much the proportional set size of the engine's daemons grew", grown, "daemon-pss"),
	sum("daemon-storage-written", "bytes", "given to write, daemon", "what the engine's daemons, and what they called and waited for, gave to be written to storage: their share of what the machine wrote, which may come later", grown, "daemon-storage-written"),
	sum("host-cpu", "ns", "CPU, host", "CPU time of the whole machine, all processors together", grown, "host-user", "host-system"),
	sum("host-steal", "ns", "stolen", "time that the hypervisor took, all processors together", grown, "host-steal"),
	sum("host-switches", "count", "switches, host", "context switches of the whole machine", grown, "host-switches"),
	sum("host-memory", "bytes", "memory, host", "by how much the memory that is available sank below where it was at the request, by /proc/meminfo: since Linux 6.7 what a processor's own list of free pages gives, up to an eighth of a zone, is not seen there", sunk, "host-available"),
	sum("host-block-read", "bytes", "disk read, host", "read from the machine's disks", grown, "host-block-read"),
	sum("host-block-written", "bytes", "disk written, host", "written to the machine's disks", grown, "host-block-written"),
	sum("host-received", "bytes", "received, host", "received by the machine's network interfaces", grown, "host-received"),
	sum("host-sent", "bytes", "sent, host", "sent by the machine's network interfaces", grown, "host-sent"),
	sum("own-cpu", "ns", "CPU, sampling", "CPU time of the sampling itself", grown, "own-cpu"),
}, energySummaries()...)

func energySummaries() []summary {
	e := []summary{
		sum("energy", "J", "energy", "energy that the processors took, by their own estimate (RAPL), the whole machine's", grown, "host-energy-package"),
		sum("energy-memory", "J", "energy, memory", "energy that the memory took, by the processors' estimate (RAPL), the whole machine's", grown, "host-energy-memory"),
	}
	for i := range e {
		e[i].scale = 1e-6
	}
	return e
}
