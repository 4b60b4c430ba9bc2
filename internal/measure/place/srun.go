package place

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// srun is Slurm's launcher, inside an allocation.
func srun(ctx context.Context, j Job, look Look) (Launch, error) {
	path, err := look("srun")
	if err != nil {
		return Launch{}, &engine.Error{Class: record.Unavailable, Text: "--on srun starts ranks by srun, and there is none on PATH"}
	}
	if os.Getenv("SLURM_JOB_ID") == "" {
		return Launch{}, &engine.Error{Class: record.Unavailable, Text: "--on srun is for inside an allocation of Slurm's, and SLURM_JOB_ID is not set here",
			Fix: "salloc --nodes 2 plimsoll run … --on srun, or plimsoll run … --on slurm from a login node"}
	}
	// srun prints the list on standard error.
	out, err := child.Run(ctx, child.Command{Argv: []string{path, "--mpi=list"}, Env: os.Environ(), Limit: 30 * time.Second, Together: true})
	if err != nil {
		return Launch{}, &engine.Error{Class: record.Unavailable, Text: "asking srun which kinds of MPI it starts (srun --mpi=list)", Err: err}
	}
	kind := bestPMI(mpiList(string(out.Stdout)))
	if kind == "" {
		return Launch{}, &engine.Error{Class: record.Unavailable, Text: fmt.Sprintf("srun --mpi=list offers none of PMIx and PMI2: %.200q", out.Stdout)}
	}
	argv := []string{path, "--ntasks", strconv.Itoa(j.Ranks), "--nodes", strconv.Itoa(j.Nodes), "--mpi=" + kind, "--kill-on-bad-exit=1",
		"--output", j.Dir + "/rank.%t.stdout", "--error", j.Dir + "/rank.%t.stderr"}
	if j.Nodes == 1 {
		argv = append(argv, "--relative", "0") // the first node, which is ours where a batch script runs us
	}
	// srun finds its allocation, and its controller, by Slurm's.
	return Launch{Argv: argv, Env: handedOn(os.Environ(), append(settings, "SLURM_")...), Name: "srun --mpi=" + kind}, nil
}

// mpiList reads what srun --mpi=list prints: a head line, then a kind a line, in
// older versions with "srun: " before each; newer ones list the versions of a
// plug-in on a further line.
func mpiList(text string) []string {
	var kinds []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "srun: "))
		line, _ = strings.CutPrefix(line, "specific pmix plugin versions available: ")
		for word := range strings.SplitSeq(line, ",") {
			word = strings.TrimSpace(word)
			if word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789_") == "" && !slices.Contains(kinds, word) {
				kinds = append(kinds, word)
			}
		}
	}
	return kinds
}

// bestPMI chooses what today's MPI libraries speak: PMIx, its newest version where
// only versions are named, then PMI2.
func bestPMI(kinds []string) string {
	if slices.Contains(kinds, "pmix") {
		return "pmix"
	}
	best := ""
	for _, k := range kinds {
		if strings.HasPrefix(k, "pmix_v") && (len(k) > len(best) || len(k) == len(best) && k > best) {
			best = k
		}
	}
	if best == "" && slices.Contains(kinds, "pmi2") {
		best = "pmi2"
	}
	return best
}
