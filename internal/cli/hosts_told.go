package cli

import (
	"github.com/spf13/cobra"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/hosts"
)

// byAuto leaves it to the records how hosts are told apart.
const byAuto = "auto"

// addBy adds how hosts are told apart, and nothing else.
func (f *hostFlags) addBy(c *cobra.Command) {
	f.by = byAuto
	choiceFlag(c, &f.by, "host-by", "how runs of several hosts are told apart: by the machine (containers of one machine are one host), by its name, or (auto) by the machine, and by the name where --on has begun them and all are of one machine", byAuto, string(hosts.ByMachine), string(hosts.ByName))
}

// settle chooses how the hosts of runs are told apart, where the user has not, and gives
// their number.
func (f *hostFlags) settle(runs []string) (int, error) {
	machines, err := machinesOf(runs)
	if err != nil {
		return 0, err
	}
	if f.by != byAuto {
		return hosts.Count(machines, hosts.By(f.by)), nil
	}
	by, n := hosts.Told(machines, runs)
	f.by = string(by)
	return n, nil
}

// machinesOf are the machines of runs, in their order.
func machinesOf(runs []string) (machines []record.Host, err error) {
	for _, dir := range runs {
		r, err := openRun(dir)
		if err != nil {
			return nil, err
		}
		machines = append(machines, r.Run().Host)
	}
	return machines, nil
}

// hostRuns are the runs of one host.
type hostRuns struct {
	label string
	dirs  []string
}

// byHost puts runs that dirs name together by their hosts; nil where they are of one
// host, as runsOf says.
func (f *hostFlags) byHost(dirs []string) ([]hostRuns, error) {
	runs, err := f.runsOf(dirs)
	if err != nil || runs == nil {
		return nil, err
	}
	return f.groupsOf(runs)
}

// groupsOf puts runs together by their hosts.
func (f *hostFlags) groupsOf(runs []string) ([]hostRuns, error) {
	machines, err := machinesOf(runs)
	if err != nil {
		return nil, err
	}
	var out []hostRuns
	for _, g := range hosts.Groups(machines, hosts.By(f.by)) {
		h := hostRuns{label: g.Label}
		for _, i := range g.At {
			h.dirs = append(h.dirs, runs[i])
		}
		out = append(out, h)
	}
	return out, nil
}
