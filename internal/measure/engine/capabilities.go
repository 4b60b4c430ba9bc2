package engine

import "slices"

// Images says how an engine comes to the images of its containers. The zero
// value is none of them: an adapter says which.
type Images string

// The ways to an image.
const (
	ImagesPulled Images = "pulled" // from a registry, into a store of the engine's: the environment is a Puller
	ImagesHanded Images = "handed" // Open puts them into a store of the engine's: the environment is a Sizer
	ImagesGiven  Images = "given"  // each container is given a directory or an archive, or the adapter has no Puller
)

// Processes are the names of what an engine runs beside the payloads, as
// /proc/PID/comm has them: the kernel cuts them after 15 bytes. By them the use
// of the machine is parted between daemon and container, and what is left after
// a run is recognised.
type Processes struct {
	// Daemons are whole names of processes that serve all containers.
	Daemons []string
	// Helpers are beginnings of the names of processes that belong to one
	// container: shims and monitors, the runtime, who does its network or its
	// file system.
	Helpers []string
	// Titles are beginnings of the command lines of helpers that bear a daemon's
	// name.
	Titles []string
	// None: there are none. One of the two must be said.
	None bool
}

// Told says whether the zero value was replaced.
func (p Processes) Told() bool {
	return p.None != (len(p.Daemons)+len(p.Helpers) > 0)
}

// AllProcesses unites what engines tell.
func AllProcesses(engines []Engine) Processes {
	var all Processes
	add := func(to *[]string, names []string) {
		for _, n := range names {
			if !slices.Contains(*to, n) {
				*to = append(*to, n)
			}
		}
	}
	for _, e := range engines {
		p := e.Info().Processes
		add(&all.Daemons, p.Daemons)
		add(&all.Helpers, p.Helpers)
		add(&all.Titles, p.Titles)
	}
	all.None = len(all.Daemons)+len(all.Helpers) == 0
	return all
}

// ContainerGroup tells the control group of one of an engine's containers, whoever
// started it, by the end of its path.
type ContainerGroup struct {
	Path string // a regular expression
	// Holder is the beginning of the name of the parent of such a container's
	// first process, where another engine has the same paths.
	Holder string
	// Whose is whose containers these are, where that is not the engine's title.
	Whose string
}

// Rule is a combination of levels that can't be on any machine, whatever is
// installed.
type Rule struct {
	// When gives the levels by factor. All must hold. OCIRuntimes and
	// OtherRuntimes stand for what the catalogue has of these.
	When map[string][]string
	// Because is a sentence, Source the address where it is documented.
	Because, Source string
}

// Words for the levels of the factor runtime in rules: those of the engines that
// call OCI runtimes, and those of all others.
const (
	OCIRuntimes   = "the OCI runtimes"
	OtherRuntimes = "the other runtimes"
)

// OnlyOCI is the rule of an engine that calls OCI runtimes.
var OnlyOCI = Rule{
	When:    map[string][]string{Runtime: {OtherRuntimes}},
	Because: "This runtime does not speak the interface of an OCI runtime, which is the one that this engine calls.",
	Source:  "https://github.com/opencontainers/runtime-spec/blob/main/implementations.md",
}

// NoHostNetwork are the rules of an engine whose private daemons live in a network namespace
// of their own: they are started for OwnDaemon, and to be put under a filter for Durability.
var NoHostNetwork = []Rule{{
	When:    map[string][]string{Network: {"host"}, With: {OwnDaemon}},
	Because: "A private daemon lives in a network namespace of its own, so its containers can't have the host's network.",
	Source:  networkNamespaces,
}, {
	When:    map[string][]string{Network: {"host"}, Without: {Durability}},
	Because: "Only a private daemon is put under the filter, and its containers can't have the host's network.",
	Source:  networkNamespaces,
}}

const networkNamespaces = "https://man7.org/linux/man-pages/man7/network_namespaces.7.html"

// Lack is what an engine can do and its adapter can't, as far as bundled studies
// name it. It means nothing once the adapter has the level.
type Lack struct {
	Factor  string
	Levels  []string
	Because string // a sentence
}
