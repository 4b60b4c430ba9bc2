//go:build linux

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/measure/agent"
	"plimsoll/internal/measure/run"
	"plimsoll/internal/measure/storage"
)

// agentFlags say whom a run asks what storage did in each trial.
type agentFlags struct {
	addresses []string
	tokenFile string
	jobName   string
}

// localAgent is the word for this machine's own counters.
const localAgent = "local"

// meetLimit is how long an agent may take to say what it has.
const meetLimit = 30 * time.Second

func (f *agentFlags) add(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.addresses, "agent", nil, "ask this agent on a storage node what it counted in each trial: https://HOST:PORT#FINGERPRINT as plimsoll agent prints it, or local for this machine's own counters, local:SOURCE,… for some of them; may be given many times")
	flags.StringVar(&f.tokenFile, "agent-token-file", "", "the agents' token")
	flags.StringVar(&f.jobName, "agent-job", "", "count only the requests of this batch job, where servers can tell them apart (default $SLURM_JOB_ID)")
}

// job is the batch job that the run belongs to.
func (f *agentFlags) job(w World) string {
	if f.jobName != "" {
		return f.jobName
	}
	return w.Getenv("SLURM_JOB_ID")
}

// meet asks each agent what it has, before anything is measured: one that can't
// be asked now is a mistake, and one that is lost later is not.
func (f *agentFlags) meet(ctx context.Context, w World) (met []run.Agent, err error) {
	defer func() {
		if err != nil {
			for _, a := range met {
				_ = a.Counter.Close() // the error is told
			}
		}
	}()
	names, whole := map[string]string{}, map[string]string{}
	for _, address := range f.addresses {
		c, host, err := f.counter(address)
		if err != nil {
			return met, err
		}
		limited, cancel := context.WithTimeout(ctx, meetLimit)
		rec, states, err := agent.Meet(limited, host, c)
		cancel()
		met = append(met, run.Agent{Agent: rec, Counter: c})
		if err != nil {
			return met, agentError(address, err)
		}
		if other, twice := names[rec.Name]; twice {
			return met, withHint(fail(Usage, "the agents at %s and %s are both called %s", other, address, rec.Name), "give one another name: plimsoll agent --name NAME")
		}
		names[rec.Name] = address
		for _, s := range states {
			if other := whole[s.Name]; s.Whole && s.Absent == "" && other != "" {
				return met, withHint(fail(Usage, "the agents %s and %s would both count %s, and each counts for all of its servers", other, rec.Name, s.Name), "start one of them without it: plimsoll agent --source")
			}
			if s.Whole && s.Absent == "" {
				whole[s.Name] = rec.Name
			}
		}
		tellAgent(w, run.Agent{Agent: rec})
	}
	return met, nil
}

// counter is whoever an address means.
func (f *agentFlags) counter(address string) (agent.Counter, string, error) {
	if name, list, some := strings.Cut(address, ":"); name == localAgent {
		var names []string
		if some {
			names = strings.Split(list, ",")
		}
		sources, err := storage.Named(names)
		if err != nil {
			return nil, "", fail(Usage, "--agent: %w", err)
		}
		b, err := agent.NewBook(agent.BookOptions{Name: localAgent, Version: Version, Sources: sources})
		if err != nil {
			return nil, "", fail(Failed, "%w", err)
		}
		return agent.Local{Book: b}, "", nil
	}
	a, err := agent.ParseAddress(address)
	if err != nil {
		return nil, "", fail(Usage, "--agent: %w", err)
	}
	if f.tokenFile == "" {
		return nil, "", withHint(fail(Usage, "the agent at %s wants its token", a.Host), "copy the file that plimsoll agent names, and give it by --agent-token-file")
	}
	token, err := agent.ReadToken(f.tokenFile)
	if err != nil {
		return nil, "", fail(Usage, "--agent-token-file: %w", err)
	}
	return agent.NewClient(a, token), a.Host, nil
}

func agentError(address string, err error) error {
	if _, ok := errors.AsType[*agent.NothingError](err); ok {
		return withHint(fail(NothingHere, "the agent %s: %w", address, err), "run the agent where the file system's servers are, and as root where their counters want it")
	}
	return withHint(fail(Failed, "asking the agent %s: %w", address, err), "see that plimsoll agent runs there, that this machine reaches its port, and that address and token are those it printed")
}

// tellAgent says on standard error what an agent will count.
func tellAgent(w World, a run.Agent) {
	for _, s := range a.Sources {
		unverified := ""
		if s.Unverified {
			unverified = " (unverified: this reader was never tried on the real file system)"
		}
		fmt.Fprintf(w.Stderr, "agent %s counts %s%s\n", harmless.Text(a.Name), harmless.Text(s.Name), unverified)
	}
}

// hostName is the machine's name, for an agent's.
func hostName() string {
	name, err := os.Hostname()
	if err != nil {
		return "agent"
	}
	return name
}
