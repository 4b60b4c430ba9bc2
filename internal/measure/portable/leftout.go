package portable

// Left is something that the full half measures and this one does not.
type Left struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

// LeftOut lists what of a measurement is unavailable here, with the reason: each needs
// the kernel on which the engine runs, or a privilege on that machine.
var LeftOut = []Left{
	{"the baselines native, floor and host", "they are processes of the engine's own kernel, started without it; there is nothing here to set its times against"},
	{"the inside clock (bootstrap, start, exec, output delay, shutdown)", "the payload's stamps are of the engine's kernel, and the client's clock is the only one here; start-up, from the request to the first byte, stands in their place"},
	{"sampling (CPU time, memory, PSI, cgroups, what the daemon and its shims take)", "it reads the control groups and /proc of the engine's kernel; what the engine itself says of a container's memory is recorded"},
	{"a quiet machine before each trial, and what disturbed it", "the load of the engine's machine can't be seen by the API"},
	{"private daemons and other storage or cgroup drivers than the daemon's own", "a daemon is started on its own machine, as root"},
	{"cold caches", "the page cache to be dropped is that of the engine's kernel"},
	{"mechanisms taken away or added, other builds", "what each comes to is proved from the engine's kernel"},
	{"workloads of several containers, of ranks, with files of the host, density and load", "they need addresses, directories or processes of the engine's own machine"},
	{"pulls", "Plimsoll's registry listens on the loopback of its own machine, and the engine's store lies on the engine's"},
	{"further blocks where a study's claims are open", "claims of several engines mostly need the baselines, which are not here; --blocks chooses their number"},
	{"explain, ablate, features, tune", "they follow or change the engine's kernel"},
}
