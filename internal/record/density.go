package record

// DensitySamples is the collector's name of a density trial's series: one
// DensityStep a line.
const DensitySamples = "density"

// The phases of a ramp, in their order.
const (
	RampBefore = "before" // nothing of the trial runs: the baseline
	RampUp     = "up"     // one container more
	RampRest   = "rest"   // all of them idle
	RampDown   = "down"   // one container fewer
	RampAfter  = "after"  // all are gone, and the wash-out is over
	RampLimit  = "limit"  // the limit that ended the way up
	// RampSample is no step, but a look at the machine's memory while one is under
	// way: Free alone.
	RampSample = "sample"
)

// DensityStep is one step of a ramp.
type DensityStep struct {
	Phase string `json:"phase"`
	// N is how many containers run when the step is over.
	N int `json:"n"`
	// At is when it was over, ns of CLOCK_MONOTONIC.
	At int64 `json:"at"`
	// Events are those of the container that the step started or ended:
	// request, first and ready for "up", stop, exit and removed for "down", and
	// whatever else the engine has between them.
	Events map[Event]int64 `json:"events,omitempty"`
	// Memory is what is taken at the end of the step; not every step has it.
	Memory *Memory `json:"memory,omitempty"`
	// Idle is what the containers at rest use, for "before" and "rest".
	Idle *Idle `json:"idle,omitempty"`
	// Limit is for "limit" only.
	Limit *Limit `json:"limit,omitempty"`
}

// Memory is what is taken of a machine's memory at a moment, in bytes. A part
// that could not be read is absent: it is not 0.
type Memory struct {
	// Payload, Monitor and Daemon are sums of the proportional set size (PSS)
	// of the containers' processes, of the engine's processes that belong to one
	// container (shim, conmon), and of its other processes.
	Payload *int64 `json:"payload,omitempty"`
	Monitor *int64 `json:"monitor,omitempty"`
	Daemon  *int64 `json:"daemon,omitempty"`
	// Kernel is the kernel's own: unreclaimable slab, page tables, stacks,
	// per-CPU data and vmalloc of the whole machine.
	Kernel *int64 `json:"kernel,omitempty"`
	// Charged is the kernel memory that the containers' cgroups are charged
	// with: a part of Kernel.
	Charged *int64 `json:"charged,omitempty"`
	// Shmem is what tmpfs and shared memory take on the whole machine.
	Shmem *int64 `json:"shmem,omitempty"`
	// Host is all that is taken: MemTotal − MemAvailable, without our own
	// process, and without what lies free in the processors' own lists.
	Host *int64 `json:"host,omitempty"`
	// Free is all that is not free, as the program free counts it: MemTotal −
	// MemFree, likewise, but with the page cache.
	Free *int64 `json:"free,omitempty"`
	// Told is what the engine's own command says of its containers, together, at
	// the top of the ramp (docker stats, podman stats).
	Told *int64 `json:"told,omitempty"`
	// Threads are those of the whole machine.
	Threads int64 `json:"threads,omitempty"`
}

// Idle is the CPU time that was used over a rest, ns.
type Idle struct {
	OverNS  int64  `json:"over_ns"` // how long the rest was
	Payload *int64 `json:"payload_ns,omitempty"`
	Monitor *int64 `json:"monitor_ns,omitempty"`
	Daemon  *int64 `json:"daemon_ns,omitempty"`
}

// Limit is what ended a ramp or bounded a load: a result, not a failure.
type Limit struct {
	// Class is stable: one of the classes below.
	Class string `json:"class"`
	// Text is a sentence for people: what is exhausted, and what the engine said.
	Text string `json:"text"`
	// Used and Max are the numbers behind it, where there are any.
	Used int64 `json:"used,omitempty"`
	Max  int64 `json:"max,omitempty"`
	// Guard: we stopped before it was reached, so that the machine stays usable.
	Guard bool `json:"guard,omitempty"`
}

// The classes of limits.
const (
	LimitMemory     = "memory"
	LimitProcesses  = "processes"        // threads-max, pid_max, pids.max, RLIMIT_NPROC
	LimitFiles      = "file-descriptors" // RLIMIT_NOFILE, file-max
	LimitInotify    = "inotify"
	LimitBridge     = "bridge-ports"
	LimitKeys       = "keyrings"
	LimitNamespaces = "namespaces"
	LimitMounts     = "mounts"
	LimitLoop       = "loop-devices"
	LimitDisk       = "disk"
	LimitPTY        = "terminals"
	LimitConntrack  = "connections"
	LimitTime       = "time" // a start took longer than the trial limit
	LimitInFlight   = "in-flight"
	LimitDied       = "died"   // a container that had run ended by itself
	LimitEngine     = "engine" // the engine refused, and no limit that we know is exhausted
)

// The ids of the metrics of a ramp. All but reached are better when lower.
const (
	DensityReached     = "reached"
	DensityFootprint   = "footprint"
	DensityPart        = "footprint-" // and payload, monitor, daemon, kernel, host, free or told
	DensityNotBack     = "not-given-back"
	DensityNotBackPart = "not-given-back-" // and daemon or kernel
	DensityStartFirst  = "start-time-first"
	DensityStartLast   = "start-time-last"
	DensityStartSlope  = "start-slope"
	DensityStopFirst   = "stop-time-full"
	DensityStopLast    = "stop-time-last"
	DensityStopSlope   = "stop-slope"
	DensityIdle        = "idle-cpu"
	DensityIdleDaemon  = "idle-cpu-daemon"
	DensityPeak        = "memory-peak"
	DensitySpike       = "memory-spike"
	DensitySpikes      = "memory-spikes"
)

// SpikeBytes is the least that a spike of memory has: more than a container leaves
// taken in any engine that was measured here.
const SpikeBytes = 16 << 20

// DensityMetrics are in the order in which a report shows them.
var DensityMetrics = []Metric{
	{ID: DensityFootprint, Unit: "bytes", Better: LowerIsBetter, Title: "footprint",
		What: "memory that one container more takes: payload, monitor, daemon and kernel, each a slope over the number of containers"},
	{ID: DensityStartFirst, Unit: "ns", Better: LowerIsBetter, Title: "first starts",
		What: "request to ready, the median of the first tenth of the ramp"},
	{ID: DensityStartLast, Unit: "ns", Better: LowerIsBetter, Title: "last starts",
		What: "request to ready, the median of the last tenth of the ramp"},
	{ID: DensityStartSlope, Unit: "ns", Better: LowerIsBetter, Title: "start slope",
		What: "what each running container adds to the next one's start"},
	{ID: DensityPart + "payload", Unit: "bytes", Better: LowerIsBetter, Title: "payload",
		What: "of one container more, its own processes (PSS)"},
	{ID: DensityPart + "monitor", Unit: "bytes", Better: LowerIsBetter, Title: "monitor",
		What: "of one container more, the engine's processes that belong to it alone (PSS)"},
	{ID: DensityPart + "daemon", Unit: "bytes", Better: LowerIsBetter, Title: "daemon",
		What: "of one container more, the growth of the engine's other processes (PSS)"},
	{ID: DensityPart + "kernel", Unit: "bytes", Better: LowerIsBetter, Title: "kernel",
		What: "of one container more, unreclaimable kernel memory of the whole machine"},
	{ID: DensityPart + "host", Unit: "bytes", Better: LowerIsBetter, Title: "host",
		What: "of one container more, what is no longer available on the whole machine (MemTotal − MemAvailable): the cross-check of the sum"},
	{ID: DensityPart + "free", Unit: "bytes", Better: LowerIsBetter, Title: "not free",
		What: "of one container more, what is no longer free on the whole machine (MemTotal − MemFree, as the program free prints it), page cache and all"},
	{ID: DensityPart + "told", Unit: "bytes", Better: LowerIsBetter, Title: "as told",
		What: "of one container more, what the engine's own command says of it (docker stats, podman stats), asked when all run"},
	{ID: DensityNotBack, Unit: "bytes", Better: LowerIsBetter, Title: "not given back",
		What: "what the whole machine still takes after all containers are gone, against before"},
	{ID: DensityNotBackPart + "daemon", Unit: "bytes", Better: LowerIsBetter, Title: "daemon keeps",
		What: "what the engine's processes still take after all containers are gone, against before (PSS)"},
	{ID: DensityNotBackPart + "kernel", Unit: "bytes", Better: LowerIsBetter, Title: "kernel keeps",
		What: "what the kernel still takes after all containers are gone, against before"},
	{ID: DensityStopFirst, Unit: "ns", Better: LowerIsBetter, Title: "first stops",
		What: "stop to removed, the median of the first tenth of the way down, when nearly all run"},
	{ID: DensityStopLast, Unit: "ns", Better: LowerIsBetter, Title: "last stops",
		What: "stop to removed, the median of the last tenth of the way down"},
	{ID: DensityStopSlope, Unit: "ns", Better: LowerIsBetter, Title: "stop slope",
		What: "what each other running container adds to a stop"},
	{ID: DensityIdle, Unit: "ns", Better: LowerIsBetter, Title: "idle CPU",
		What: "CPU time that an idle container uses in a second: payload, monitor, and its share of the daemon beyond what that used before the ramp"},
	{ID: DensityIdleDaemon, Unit: "ns", Better: LowerIsBetter, Title: "idle CPU, daemon",
		What: "of that, the daemon's"},
	{ID: DensityPeak, Unit: "bytes", Better: LowerIsBetter, Title: "peak", Kind: Sampled,
		What: "the most that was not free on the whole machine at any moment of the ramp, beyond what was not free when it began"},
	{ID: DensitySpike, Unit: "bytes", Better: LowerIsBetter, Title: "spike", Kind: Sampled,
		What: "the most that any one start or stop took of the machine only while it lasted: beyond what was not free both before and after it"},
	{ID: DensitySpikes, Unit: "count", Better: LowerIsBetter, Title: "spikes", Kind: Sampled,
		What: "how many starts and stops took 16 MiB or more in that way"},
	{ID: DensityReached, Unit: "containers", Better: HigherIsBetter, Title: "reached",
		What: "how many ran at once; where that is fewer than were asked for, the limit is named"},
}
