package slurm

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Request is what a job of a run asks of the site.
type Request struct {
	Partition string `json:"partition,omitempty"`
	Account   string `json:"account,omitempty"`
	// Nodes is at least 1. Tasks a node is 0 where the site's own is right.
	Nodes        int `json:"nodes"`
	TasksPerNode int `json:"tasks_per_node,omitempty"`
	// Limit is the time limit; 0 is the partition's own.
	Limit time.Duration `json:"limit_ns,omitempty"`
	// NodeList are the nodes that it must get; "" is any.
	NodeList string `json:"node_list,omitempty"`
	// Shared lets other jobs onto the nodes.
	Shared bool `json:"shared,omitempty"`
	// Options are further ones of sbatch, as constraint=haswell.
	Options []string `json:"options,omitempty"`
}

// own are the options of sbatch that Plimsoll sets itself, each with what to
// use in its place.
var own = map[string]string{
	"job-name": "the name proves that the job is the run's", "comment": "the comment proves that the job is the run's",
	"output": "the log is in the record's folder jobs", "error": "the log is in the record's folder jobs", "open-mode": "the log is in the record's folder jobs",
	"partition": "use --partition", "account": "use --account", "nodes": "use --nodes", "ntasks-per-node": "use --tasks-per-node", "time": "use --time-limit",
	"array": "a study is one job, so that all of a block meets the same nodes", "wrap": "the job's script is Plimsoll's", "parsable": "Plimsoll sets it", "quiet": "Plimsoll reads what sbatch prints",
	"signal": "the signal before the time limit is Plimsoll's", "requeue": "Plimsoll submits again by itself", "no-requeue": "Plimsoll sets it",
	"wait": "Plimsoll follows the job", "test-only": "it submits nothing", "help": "it submits nothing", "usage": "it submits nothing", "version": "it submits nothing", "chdir": "the job begins where Plimsoll does",
	"export": "the job must have this environment", "export-file": "the job must have this environment", "clusters": "a run is followed on one cluster",
}

var option = regexp.MustCompile(`^([a-z][a-z0-9-]*)(=[^\n\r\x00]*)?$`)

// Check says what of a request can't be, before the site is asked.
func (r *Request) Check() error {
	if r.Nodes < 1 {
		return fmt.Errorf("%d nodes: a job needs at least 1", r.Nodes)
	}
	if r.TasksPerNode < 0 {
		return fmt.Errorf("%d tasks a node: give at least 1, or leave it to the site", r.TasksPerNode)
	}
	if r.Limit != 0 && r.Limit < time.Minute {
		return fmt.Errorf("a time limit of %v: Slurm's shortest is a minute", r.Limit)
	}
	for _, o := range r.Options {
		m := option.FindStringSubmatch(strings.TrimPrefix(o, "--"))
		if m == nil {
			return fmt.Errorf("%q is no long option of sbatch: expected NAME or NAME=VALUE, such as constraint=haswell", o)
		}
		if why, ok := own[m[1]]; ok {
			return fmt.Errorf("%s can't be given: %s", m[1], why)
		}
	}
	return nil
}

// warning is how long before its time limit a job's script is told that it will
// end: a trial must end in it, and what the run has made be taken away. Slurm
// tells it up to a minute earlier, so of a short limit it is a tenth.
func (r *Request) warning() int {
	if r.Limit == 0 {
		return 60
	}
	return int(max(10*time.Second, min(r.Limit/10, 2*time.Minute)).Seconds())
}

// limit is the time limit as sbatch takes it, rounded up to minutes.
func limit(d time.Duration) string { return strconv.Itoa(int((d + time.Minute - 1) / time.Minute)) }

// argv is sbatch with all that a job of this run needs; log is its output's
// path, in which Slurm replaces %j by the job's number.
func (r *Request) argv(run, log, script string) []string {
	argv := []string{
		"sbatch", "--parsable", "--job-name=" + Name(run), "--comment=" + Comment(run),
		"--output=" + log, "--open-mode=append", "--no-requeue", "--export=ALL",
		"--nodes=" + strconv.Itoa(r.Nodes), "--signal=B:TERM@" + strconv.Itoa(r.warning()),
	}
	add := func(name, value string) {
		if value != "" {
			argv = append(argv, "--"+name+"="+value)
		}
	}
	add("partition", r.Partition)
	add("account", r.Account)
	add("nodelist", r.NodeList)
	if r.TasksPerNode > 0 {
		add("ntasks-per-node", strconv.Itoa(r.TasksPerNode))
	}
	if r.Limit > 0 {
		add("time", limit(r.Limit))
	}
	if !r.Shared && !slices.ContainsFunc(r.Options, func(o string) bool {
		name, _, _ := strings.Cut(strings.TrimPrefix(o, "--"), "=")
		return name == "exclusive" || name == "oversubscribe"
	}) {
		argv = append(argv, "--exclusive")
	}
	for _, o := range r.Options {
		argv = append(argv, "--"+strings.TrimPrefix(o, "--"))
	}
	return append(argv, script)
}

// Submit submits a job's script and gives the job's number. The script and the
// log's folder must be where the nodes find them.
func (c *Client) Submit(ctx context.Context, r *Request, run, log, script string) (string, error) {
	if err := r.Check(); err != nil {
		return "", err
	}
	// A submission that is broken off may have been made: it is waited for, and
	// a Ctrl-C meanwhile counts afterwards.
	text, err := c.run(context.WithoutCancel(ctx), r.argv(run, log, script)...)
	if err != nil {
		return "", err
	}
	return parseSubmitted(text)
}
