//go:build linux

package cli

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// use is what a flag of run is for, as far as others than run must know it.
type use int

const (
	// decides: it decides what is planned, where or for how long: a command that
	// measures the same again has it.
	decides use = 1 << iota
	// kept: a run that is resumed has it in its record, and takes no other.
	kept
	// inJob: the plimsoll inside of a cluster's job gets it.
	inJob
	// ofJob: it is asked of a cluster, for its job.
	ofJob
	// ofHosts: it is about how other hosts are reached.
	ofHosts
)

// runFlags are all flags of run.
var runFlags = []struct {
	name string
	use
}{
	{"blocks", decides | kept | inJob}, {"until", decides | kept | inJob}, {"time-budget", decides | kept | inJob},
	{"max-blocks", decides | kept | inJob}, {"seed", decides | kept | inJob}, {"small", decides | kept | inJob},
	{"tuned", decides | kept | inJob}, {"scale", decides | kept | inJob}, {"part", decides | kept | inJob},
	{"patience", decides | kept | inJob}, {"limit-cpus", decides | kept | inJob}, {"limit-memory", decides | kept | inJob},
	{"engine", decides | kept | inJob}, {"claim", decides | kept | inJob}, {"image", decides | kept | inJob},
	// What a directory or a registry is called may change while a run waits.
	{"build", decides | inJob}, {"builds", inJob}, // what is repeated names each build, with its digest
	{"image-on", decides | inJob}, {"mirror", decides | inJob},
	{"on", decides | kept}, {"hosts", decides | kept},
	{"gate", decides | kept}, {"gate-env", decides | kept}, {"budget", decides | kept}, {"fail-above", decides | kept},
	{"thresholds", decides | kept}, {"allow-failures", decides | kept}, {"allow-missing", decides | kept}, {"strict", decides | kept},
	{"unlike", decides}, // with --resume it is about the machine
	{"partition", decides | ofJob}, {"account", decides | ofJob}, {"nodes", decides | ofJob}, {"tasks-per-node", decides | ofJob},
	{"time-limit", decides | ofJob}, {"share-nodes", decides | ofJob}, {"slurm-option", decides | ofJob}, {"max-jobs", decides | ofJob},
	{"become", ofHosts}, {"program", ofHosts}, {"lost-after", ofHosts},
	{"output", kept}, {"force", inJob},
	{"run-id", 0}, {"resume", 0}, {"stop-after", 0}, {"trust-record", 0}, {"noise", 0}, {"wait", 0}, {"yes", 0}, {"progress", 0},
	{"agent", 0}, {"agent-token-file", 0}, {"agent-job", 0},
	{"portable", 0}, {"image-archive", 0}, // of the other half, whose records have arguments of their own
	{"format", 0}, {"metric", 0}, {"ascii", 0}, {"raw-csv", 0}, {"full", 0},
}

// flagsFor are the flags of a use.
func flagsFor(u use) (names []string) {
	for _, f := range runFlags {
		if f.use&u != 0 {
			names = append(names, f.name)
		}
	}
	return names
}

// given are those of these flags that the command line has, as arguments, in the
// order of the names.
func given(fl *pflag.FlagSet, names []string) []string {
	var argv []string
	for _, name := range names {
		if f := fl.Lookup(name); f != nil && f.Changed {
			for _, v := range values(f) {
				argv = append(argv, "--"+name+"="+v)
			}
		}
	}
	return argv
}

// values are what a flag was given, each as one argument takes it.
func values(f *pflag.Flag) []string {
	switch f.Value.Type() {
	case "stringArray":
		return f.Value.(pflag.SliceValue).GetSlice()
	case "stringSlice", "stringToString":
		return []string{strings.TrimSuffix(strings.TrimPrefix(f.Value.String(), "["), "]")}
	}
	return []string{f.Value.String()}
}

// repeating are the arguments by which the same is planned again, as a user types
// them: the study, the flags that decide, and the seed that was drawn. by is the
// place that was asked for, where the command line names the one inside of it. A
// command of the user's own, in place of a study, comes last.
func repeating(fl *pflag.FlagSet, study string, command []string, by string, seed uint64) []string {
	argv := []string{"run"}
	if len(command) == 0 {
		argv = append(argv, study)
	}
	for _, name := range flagsFor(decides) {
		f := fl.Lookup(name)
		switch {
		case f == nil || !f.Changed || name == "seed":
			continue
		case name == "on" && by != "":
			argv = append(argv, "--on", by)
			continue
		}
		for _, v := range values(f) {
			switch {
			case f.Value.Type() != "bool":
				argv = append(argv, "--"+name, v)
			case v == "true":
				argv = append(argv, "--"+name)
			default:
				argv = append(argv, "--"+name+"="+v)
			}
		}
	}
	argv = append(argv, "--seed", strconv.FormatUint(seed, 10))
	if len(command) > 0 {
		argv = append(append(argv, "--"), command...)
	}
	return argv
}

// keepsStudy refuses what would change the study of a run that is resumed.
// allowed are flags of which the caller says that they do not.
func keepsStudy(fl *pflag.FlagSet, args []string, allowed ...string) error {
	return keeps(fl, args, slices.DeleteFunc(flagsFor(kept), func(name string) bool { return slices.Contains(allowed, name) }))
}
