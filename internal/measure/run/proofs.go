package run

import (
	"fmt"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/host"
)

// Proof says by which proof things of some kinds are removed, ended or put back.
type Proof struct {
	// Kinds are those of the ledger and of the census.
	Kinds []string
	What  string // as the documentation names it
	By    string // what is shown before it is touched
	Else  string // what happens to what looks alike without the proof
}

// Proofs are all of them: a kind that is missing is never removed. The table in
// docs/clean-up.md is made from them.
var Proofs = []Proof{
	{[]string{engine.KindContainer, engine.KindVolume, engine.KindProject, engine.KindPool, engine.KindProfile},
		"containers, pods, volumes, projects, pools, profiles",
		"the exact name in the ledger, and the label with the run's id that the engine reports for it", "stays"},
	{[]string{engine.KindImage}, "images", "the tag with the run's id in the ledger; only the tag goes, without force", "stays; reported as *kept* if a container uses it"},
	{[]string{engine.KindNamespace}, "engines' namespaces", "the exact name in the ledger, and the run's label", "stays"},
	{[]string{engine.KindProcess, string(host.KindProcess)}, "processes",
		"one of: its program or its root lies in the run's folder; it is in a control group that the ledger names by its path; it is a helper of an engine and has inherited the run's secret; it descends from such a process. PID and start time are compared again before the signal",
		"a helper's name, or an argument in the run's folder: reported with the command that ends it, and left"},
	{[]string{engine.KindMount, string(host.KindMount)}, "mounts", "the mount point lies in the run's folder or below a path in the ledger", "stays"},
	{[]string{engine.KindCgroup, string(host.KindCgroup)}, "control groups",
		"the exact path in the ledger, or the exact place where the engine puts a container of the ledger; and the groups below it", "stays, whatever its name"},
	{[]string{engine.KindNetNS, string(host.KindNetNS)}, "network namespaces", "the exact path in the ledger", "stays, also one that an engine left without an owner: see below"},
	{[]string{engine.KindLink, string(host.KindLink)}, "links", "the exact name in the ledger", "stays"},
	{[]string{string(host.KindLoop), engine.KindFileSystem}, "loop devices and their file systems", "the backing file lies in the run's folder", "stays"},
	{[]string{engine.KindDaemon}, "private daemons", "the note next to its directories: first process, secret, mount namespace, control groups", "stays"},
	{[]string{engine.KindRule}, "packet filter rules", "the exact rule, with the run's bridge or network, in the ledger", "stays"},
	{[]string{engine.KindSetting}, "kernel settings", "the value before in the ledger, the same boot and network namespace, and the value is still the run's", "left on, and reported with the command that puts it back"},
	{[]string{engine.KindOwner}, "the owner of /dev/null", "noted as root's in the ledger; same boot, device and inode; another owner now", "stays"},
	{[]string{engine.KindFile}, "files outside of the run's folder", "the exact path in the ledger, made by the run under a random name, or a content that names one of the run's stores", "stays"},
}

// ProofTable is the table of the documentation.
func ProofTable() string {
	var b strings.Builder
	b.WriteString("| what | is removed by which proof | what only looks alike |\n| --- | --- | --- |\n")
	for _, p := range Proofs {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", p.What, p.By, p.Else)
	}
	return b.String()
}
