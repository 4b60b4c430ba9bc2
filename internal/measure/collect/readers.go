//go:build linux

package collect

import "plimsoll/internal/record"

// counts is a column that only grows; level is one that goes up and down.
func counts(part Part, id, unit, what string) record.Column {
	return record.Column{ID: string(part) + "-" + id, Part: string(part), Unit: unit, Counter: true, What: what}
}

func level(part Part, id, unit, what string) record.Column {
	return record.Column{ID: string(part) + "-" + id, Part: string(part), Unit: unit, What: what}
}

func columns(c ...record.Column) []record.Column { return c }

// memoryOf is what the processes of a part have of it.
func memoryOf(part Part, what string) []record.Column {
	return columns(level(part, "pss", "bytes", what), level(part, "uss", "bytes", "what they share with nobody"), level(part, "processes", "count", "how many they are"))
}

// readers lists every kind of reading, in the order of the columns. To add one
// is to add an entry here and the function that it names:
// docs/add-a-collector.md.
var readers = []reader{
	{name: "group-cpu", part: Payload, rate: often, last: true, open: openGroupCPU, columns: columns(
		counts(Payload, "cpu", "ns", "CPU time of the payload"))},
	{name: "process-cpu", part: Payload, rate: often, instead: "group-cpu", open: openTreeCPU, columns: columns(
		counts(Payload, "cpu", "ns", "CPU time of the payload"))},
	{name: "group-memory", part: Payload, rate: often, last: true, open: openGroupMemory, columns: columns(
		level(Payload, "memory", "bytes", "memory that the payload's control group is charged with"))},
	{name: "group-memory-peak", part: Payload, rate: sometimes, last: true, open: openGroupMemoryPeak, columns: columns(
		level(Payload, "memory-peak", "bytes", "the most that it was charged with, by the kernel's own account"))},
	{name: "group-memory-parts", part: Payload, rate: sometimes, last: true, open: openGroupMemoryParts, columns: columns(
		level(Payload, "anon", "bytes", "of that, anonymous memory"),
		level(Payload, "file", "bytes", "of that, the page cache, tmpfs too"),
		level(Payload, "kernel", "bytes", "of that, the kernel's own"))},
	{name: "group-throttle", part: Payload, rate: sometimes, last: true, open: openGroupThrottle, columns: columns(
		counts(Payload, "throttled", "ns", "for how long the payload's CPU limit held it back"))},
	{name: "group-block", part: Payload, rate: sometimes, last: true, open: openGroupBlock, columns: columns(
		counts(Payload, "block-read", "bytes", "read from disks, by the payload's control group"),
		counts(Payload, "block-written", "bytes", "written to disks, by the payload's control group (version 1: without what the kernel writes back later)"))},
	{name: "group-pressure", part: Payload, rate: sometimes, last: true, open: openGroupPressure, columns: columns(
		counts(Payload, "cpu-pressure", "ns", "for how long some of the payload waited for a processor"),
		counts(Payload, "memory-pressure", "ns", "for how long some of the payload waited for memory"),
		counts(Payload, "io-pressure", "ns", "for how long some of the payload waited for a disk"))},
	{name: "group-processes", part: Payload, rate: sometimes, open: openGroupProcesses, columns: columns(
		level(Payload, "tasks", "count", "processes and threads in the payload's control group"))},
	{name: "payload-pss", part: Payload, rate: rarely, open: openProcesses(readPSS), columns: memoryOf(Payload, "proportional set size of the payload's processes")},
	{name: "payload-storage", part: Payload, rate: sometimes, open: openProcesses(readStorage), columns: columns(
		counts(Payload, "storage-read", "bytes", "what the payload's processes had fetched from storage (/proc/PID/io)"),
		counts(Payload, "storage-written", "bytes", "what the payload's processes gave to be written to storage (/proc/PID/io)"))},
	{name: "payload-switches", part: Payload, rate: sometimes, open: openProcesses(readSwitches), columns: columns(
		counts(Payload, "switches", "count", "context switches of the payload's threads, as far as they were seen"))},
	{name: "payload-network", part: Payload, rate: sometimes, open: openNetwork, columns: columns(
		counts(Payload, "received", "bytes", "received in the payload's own network, but for the loopback"),
		counts(Payload, "sent", "bytes", "sent in the payload's own network, but for the loopback"))},

	{name: "monitor-cpu", part: Monitor, rate: often, open: openProcesses(readCPU), columns: columns(
		counts(Monitor, "cpu", "ns", "CPU time of the processes that the engine keeps for the container, without their children"))},
	{name: "monitor-pss", part: Monitor, rate: rarely, open: openProcesses(readPSS), columns: memoryOf(Monitor, "proportional set size of these processes")},

	{name: "client-cpu", part: Client, rate: often, open: openProcesses(readCPU), columns: columns(
		counts(Client, "cpu", "ns", "CPU time of the command lines that were started, as far as it was seen"))},
	{name: "client-pss", part: Client, rate: rarely, open: openProcesses(readPSS), columns: memoryOf(Client, "proportional set size of the command lines that were started")},

	{name: "daemon-cpu", part: Daemon, rate: often, open: openProcesses(readCPU), columns: columns(
		counts(Daemon, "cpu", "ns", "CPU time of the engine's daemons, without their children"))},
	{name: "daemon-children", part: Daemon, rate: sometimes, open: openProcesses(readChildren), columns: columns(
		counts(Daemon, "children-cpu", "ns", "CPU time of what the daemons have called and waited for, to 10 ms"))},
	{name: "daemon-pss", part: Daemon, rate: rarely, open: openProcesses(readPSS), columns: memoryOf(Daemon, "proportional set size of the engine's daemons")},
	{name: "daemon-storage", part: Daemon, rate: sometimes, open: openProcesses(readStorage), columns: columns(
		counts(Daemon, "storage-read", "bytes", "what the daemons' processes had fetched from storage (/proc/PID/io), and what they have called and waited for"),
		counts(Daemon, "storage-written", "bytes", "what the daemons' processes gave to be written to storage (/proc/PID/io), and what they have called and waited for"))},

	{name: "host-cpu", part: Host, rate: ticking, open: openHostCPU, columns: columns(
		counts(Host, "user", "ns", "all processors: in user mode, nice too"),
		counts(Host, "system", "ns", "all processors: in the kernel, interrupts too"),
		counts(Host, "idle", "ns", "all processors: idle"),
		counts(Host, "iowait", "ns", "all processors: idle while somebody waited for a disk"),
		counts(Host, "steal", "ns", "all processors: taken by the hypervisor"),
		counts(Host, "switches", "count", "context switches"),
		counts(Host, "forks", "count", "processes and threads made"),
		level(Host, "running", "count", "threads that could run"))},
	{name: "host-network", part: Host, rate: ticking, open: openHostNetwork, columns: columns(
		counts(Host, "received", "bytes", "received by the real network interfaces"),
		counts(Host, "sent", "bytes", "sent by the real network interfaces"))},
	{name: "host-block", part: Host, rate: ticking, open: openHostBlock, columns: columns(
		counts(Host, "block-read", "bytes", "read from the real disks"),
		counts(Host, "block-written", "bytes", "written to the real disks"))},
	{name: "host-memory", part: Host, rate: sometimes, open: openHostMemory, columns: columns(
		level(Host, "available", "bytes", "memory that new programs could have"),
		level(Host, "free", "bytes", "memory that nobody uses"),
		level(Host, "cached", "bytes", "page cache, tmpfs too"),
		level(Host, "buffers", "bytes", "cache of block devices"),
		level(Host, "slab", "bytes", "the kernel's own structures"),
		level(Host, "dirty", "bytes", "waits to be written"))},
	{name: "host-pressure", part: Host, rate: sometimes, open: openHostPressure, columns: columns(
		counts(Host, "cpu-pressure", "ns", "for how long somebody waited for a processor"),
		counts(Host, "memory-pressure", "ns", "for how long somebody waited for memory"),
		counts(Host, "io-pressure", "ns", "for how long somebody waited for a disk"))},
	{name: "energy", part: Host, rate: sometimes, open: openEnergy, columns: columns(
		counts(Host, "energy-package", "µJ", "energy that the processors took, by their own estimate (RAPL)"),
		counts(Host, "energy-memory", "µJ", "energy that the memory took, by the processors' estimate (RAPL)"))},

	{name: "own-cpu", part: Own, rate: often, open: openOwnCPU, columns: columns(
		counts(Own, "cpu", "ns", "CPU time of the sampling itself"))},
}
