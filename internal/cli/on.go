//go:build linux

package cli

import (
	"slices"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/internal/measure/place"
	"plimsoll/internal/measure/slurm"
	"plimsoll/internal/record"
)

// onSlurm is the place that is a job of the cluster whose login node this is.
const onSlurm = "slurm"

// onJob is where the plimsoll inside of a job runs what it measures: in the
// job's first node, and ranks on all of them. jobsStateShared says that what it
// keeps must be seen by all of the job's nodes.
const (
	onJob           = string(place.Srun)
	jobsStateShared = true
)

// onFlags are what a cluster is asked for.
type onFlags struct {
	request slurm.Request
	limit   string
	most    int
	id      string // of the run, given by the plimsoll on the login node
}

// mostJobs is how many jobs a run is given where nothing is said: a long study
// needs several where the site's time limit is short.
const mostJobs = 10

func (o *onFlags) add(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&o.request.Partition, "partition", "", "with --on slurm: the partition of the job")
	fl.StringVar(&o.request.Account, "account", "", "with --on slurm: the account that the job is charged to")
	fl.IntVar(&o.request.Nodes, "nodes", 1, "with --on slurm: how many nodes the job gets")
	fl.IntVar(&o.request.TasksPerNode, "tasks-per-node", 0, "with --on slurm: how many tasks a node holds (default: the site's)")
	fl.StringVar(&o.limit, "time-limit", "", "with --on slurm: the job's time limit, such as 30m or 1-12:00:00 (default: the partition's)")
	fl.BoolVar(&o.request.Shared, "share-nodes", false, "with --on slurm: other jobs may run on the nodes meanwhile (default: the nodes are the job's alone)")
	fl.StringArrayVar(&o.request.Options, "slurm-option", nil, "with --on slurm: a further option of sbatch, such as constraint=haswell; as often as needed")
	fl.IntVar(&o.most, "max-jobs", mostJobs, "with --on slurm: if a time limit or a lost node ends a job, submit the rest of the study again, up to this many jobs")
	fl.StringVar(&o.id, "run-id", "", "the id of the run, eight of a-z and 0-9: --on slurm gives it to the job (default: drawn)")
}

// bySlurm says whether a run is a cluster's: a new one that is to be (on is the
// place), or one that was begun so. The plimsoll inside of a job is told the
// run's id: it measures.
func (o *onFlags) bySlurm(cmd *cobra.Command, on, resume string) (bool, error) {
	if on == onSlurm || resume != "" && o.id == "" && slurm.Kept(resume) {
		return true, o.read(cmd)
	}
	// The plimsoll inside of a job is told of them for the record alone.
	if flags := flagsFor(ofJob); o.id == "" && slices.ContainsFunc(flags, cmd.Flags().Changed) {
		return false, fail(Usage, "--%s is for a job of a cluster: give --on slurm with it", flags[slices.IndexFunc(flags, cmd.Flags().Changed)])
	}
	if o.id != "" && !record.IsRunID(o.id) {
		return false, fail(Usage, "--run-id is %q: expected eight of a-z and 0-9", o.id)
	}
	return false, nil
}

func (o *onFlags) read(cmd *cobra.Command) error {
	if o.limit != "" {
		d, err := slurm.ParseTime(o.limit)
		if err != nil {
			if d, err = time.ParseDuration(o.limit); err != nil {
				return fail(Usage, "--time-limit is %q: expected a time such as 30m, 2h, 1:30:00 or 1-12:00:00", o.limit)
			}
		}
		if o.request.Limit = d; d == 0 {
			return fail(Usage, "--time-limit is %q: Slurm's shortest is a minute", o.limit)
		}
	}
	if o.most < 1 {
		return fail(Usage, "--max-jobs is %d: it must be at least 1", o.most)
	}
	if err := o.request.Check(); err != nil {
		return fail(Usage, "%w", err)
	}
	for _, f := range []string{"gate", "gate-env"} {
		if cmd.Flags().Changed(f) {
			return withHint(fail(Usage, "--%s is not for a job of a cluster", f), "measure first, then hold the record against the other one: plimsoll compare BASE NEW --fail-above 5%%")
		}
	}
	return nil
}

// over lays what the command line asks for now over what was asked for the
// run's earlier jobs.
func (o *onFlags) over(cmd *cobra.Command, was slurm.Request) slurm.Request {
	now := was
	for flag, take := range map[string]func(){
		"partition":      func() { now.Partition = o.request.Partition },
		"account":        func() { now.Account = o.request.Account },
		"nodes":          func() { now.Nodes, now.NodeList = o.request.Nodes, "" },
		"tasks-per-node": func() { now.TasksPerNode = o.request.TasksPerNode },
		"time-limit":     func() { now.Limit = o.request.Limit },
		"share-nodes":    func() { now.Shared = o.request.Shared },
		"slurm-option":   func() { now.Options = o.request.Options },
	} {
		if cmd.Flags().Changed(flag) {
			take()
		}
	}
	return now
}
