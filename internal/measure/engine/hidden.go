package engine

// The paths below /proc and /sys that Kubernetes, and engines that nobody asks, hide from a
// container that is not privileged, and those that it may only read: what is told of them
// by us is the same for every engine.
var (
	HiddenPaths = []string{"/proc/asound", "/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list",
		"/proc/timer_stats", "/proc/sched_debug", "/proc/scsi", "/sys/firmware", "/sys/devices/virtual/powercap"}
	ReadonlyPaths = []string{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"}
)
