//go:build linux

package cli

import (
	"github.com/spf13/cobra"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/measure/place"
	"plimsoll/internal/record"
)

// placing are the flags that say where the ranks of parallel workloads run.
type placing struct {
	on, hosts string
}

func (p *placing) add(c *cobra.Command) {
	words := lists.Map(place.Kinds, func(k place.Kind) string { return string(k) })
	p.on = words[0]
	words = append(words, onSlurm)
	c.Flags().Var(onValue{choice{&p.on, words}}, "on", "where to measure: on this machine; with the ranks of MPI workloads on hosts by mpirun, or by srun on the nodes of the allocation that this runs in; as a job of the cluster whose login node this is; or on other hosts by ssh, ssh://[USER@]HOST[:PORT],… or file:HOSTS.yaml[#GROUP,…]")
	completes(c, "on", completeOn(words))
	c.Flags().StringVar(&p.hosts, "hosts", "", "with --on mpirun: the hosts, HOST or HOST:SLOTS with commas between, or a file with one a line")
	completesPaths(c, nil, "hosts")
}

// record is the place as a run's record has it; nil is this machine.
func (p *placing) record() (*record.Place, error) {
	if p.hosts != "" && p.on != string(place.Mpirun) {
		return nil, fail(Usage, "--hosts is for --on mpirun")
	}
	if p.on == string(place.Local) {
		return nil, nil
	}
	out := &record.Place{On: p.on}
	if p.hosts != "" {
		hosts, err := place.Hosts(p.hosts)
		if err != nil {
			return nil, fail(Usage, "%w", err)
		}
		out.Hosts = hosts
	}
	return out, nil
}

// placeOf is what a run's record says, for the run.
func placeOf(p *record.Place) place.Place {
	if p == nil {
		return place.Place{}
	}
	return place.Place{Kind: place.Kind(p.On), Hosts: p.Hosts}
}
