package tune

// Setting is one state of the machine that can be set for the length of a run.
type Setting struct {
	Name string
	// Title is what the machine does while it is set, and Price what it does worse.
	Title, Price string
	// unit says in words what a value of the kernel's means; nil where it is a word itself.
	unit func(value string) string
	// find tells what would be written here, or why nothing can.
	find func(Machine) ([]Change, error)
}

// settings are all, what containers wait for most first.
var settings = []Setting{
	{
		// Documentation/admin-guide/kernel-parameters.txt, rcupdate.rcu_expedited.
		Name: "rcu-expedited", Title: "RCU grace periods end at once: a program that moves a process into a control group, or deletes a link, does not wait for a quiet point of each processor",
		Price: "each grace period interrupts all processors", find: file("/sys/kernel/rcu_expedited", "1"), unit: onOff,
	},
	{
		// Documentation/admin-guide/cgroup-v2.rst, favordynmods.
		Name: "favordynmods", Title: "moving a process into a control group of version 2 waits for no grace period",
		Price: "forks and exits cost more", find: favorDynMods(yes),
	},
	{
		// Documentation/admin-guide/pm/cpufreq.rst.
		Name: "governor", Title: "processors keep their highest frequency", Price: "they use more power",
		find: files("/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor", "performance"),
	},
	{
		// Documentation/admin-guide/pm/intel_pstate.rst and cpufreq.rst, boost.
		Name: "turbo", Title: "processors run no faster while they are cool", Price: "they are slower",
		find: either(file("/sys/devices/system/cpu/intel_pstate/no_turbo", "1"), file("/sys/devices/system/cpu/cpufreq/boost", "0")), unit: boost,
	},
	{
		// Documentation/power/pm_qos_interface.rst: it holds as long as the file is open.
		Name: "idle-states", Title: "an idle processor stays awake", Price: "it uses more power", find: idleStates, unit: microseconds,
	},
	{
		// Documentation/admin-guide/mm/transhuge.rst.
		Name: "huge-pages", Title: "memory is given in small pages, never in huge ones", Price: "large programs touch more of them",
		find: file("/sys/kernel/mm/transparent_hugepage/enabled", "never"),
	},
	{
		// Documentation/admin-guide/sysctl/vm.rst, as are the next three.
		Name: "swap", Title: "memory is not swapped out while any other can be freed", Price: "files are forgotten earlier", find: swap, unit: swappiness,
	},
	{
		Name: "writeback", Title: "nothing is written back to the disk by the clock", Price: "a power failure loses more of what programs did not sync",
		find: file("/proc/sys/vm/dirty_writeback_centisecs", "0"), unit: centiseconds,
	},
	{
		Name: "compaction", Title: "memory is compacted only when it is needed", Price: "huge pages are found later",
		find: file("/proc/sys/vm/compaction_proactiveness", "0"), unit: ofHundred,
	},
	{
		Name: "statistics", Title: "the kernel's memory statistics are folded every two minutes instead of each second", Price: "they are that old",
		find: file("/proc/sys/vm/stat_interval", "120"), unit: seconds,
	},
	{
		// Documentation/admin-guide/sysctl/kernel.rst, as is the next one.
		Name: "watchdog", Title: "the kernel does not look for processors that hang", Price: "one that hangs is not reported",
		find: file("/proc/sys/kernel/watchdog", "0"), unit: onOff,
	},
	{
		Name: "numa-balancing", Title: "memory does not move between nodes", Price: "a program may stay far from its memory",
		find: file("/proc/sys/kernel/numa_balancing", "0"), unit: numaModes,
	},
	{
		// Documentation/core-api/irq/irq-affinity.rst.
		Name: "interrupts", Title: "devices interrupt processor 0 only", Price: "their interrupts queue up there", find: interrupts, unit: processors,
	},
}

// Everything is the level that stands for all that can be set here.
const Everything = "all"

// Names are those of the settings.
func Names() []string {
	var out []string
	for _, s := range settings {
		out = append(out, s.Name)
	}
	return out
}
