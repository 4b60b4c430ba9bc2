//go:build linux

package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/common/lists"
	"plimsoll/internal/measure/agent"
	"plimsoll/internal/measure/storage"
)

// agentSetting is what plimsoll agent is told.
type agentSetting struct {
	listen, name, identity, cert, key string
	sources                           []string
	hz                                float64
	list                              bool
	format                            string
}

func agentCommand(w World) *cobra.Command {
	o := agentSetting{format: "text"}
	c := &cobra.Command{
		Use:   "agent",
		Short: "On a storage node: say what its servers did during each trial of a run elsewhere",
		Long: `Answers over HTTPS what the storage servers and clients of this machine counted
between the begin and the end of each trial of a run that names this agent by
--agent: requests, bytes, opens, waiting times. It only reads, changes nothing,
and needs root only where a file system shows its counters only to root.

At its first start it makes a key, a certificate and a token in its identity's
folder, and prints the address with the certificate's fingerprint. Copy the token
to the machine that measures. --list shows which counters are here. SIGINT ends it.`,
		Example: `  plimsoll agent --list
  plimsoll agent
  plimsoll agent --name oss1 --source lustre-oss --listen 10.0.0.7:7655`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			sources, err := storage.Named(o.sources)
			if err != nil {
				return fail(Usage, "--source: %w", err)
			}
			if o.name == "" {
				o.name = agent.NameOf(hostName())
			}
			if err := agent.CheckName(o.name); err != nil {
				return fail(Usage, "--name: %w", err)
			}
			if o.hz < 0 || o.hz > 100 {
				return fail(Usage, "--collect is %g: it is how often a second the machine is sampled, from 0 to 100", o.hz)
			}
			if o.list {
				return listSources(w, sources, o.format)
			}
			return o.serve(w, sources)
		},
	}
	c.Flags().StringVar(&o.listen, "listen", ":"+agent.DefaultPort, "address and port to listen at; port 0 takes any that is free")
	c.Flags().StringVar(&o.name, "name", "", "what the run calls this agent (default: the host's name)")
	c.Flags().StringSliceVar(&o.sources, "source", nil, "read only these counters (default: all that are here)")
	c.Flags().StringVar(&o.identity, "identity", "", "folder with the agent's key, certificate and token, made if it is not there (default: plimsoll-agent below the user's configuration)")
	c.Flags().StringVar(&o.cert, "cert", "", "a certificate of the site's own instead (PEM, with its chain)")
	c.Flags().StringVar(&o.key, "key", "", "and its key")
	c.Flags().Float64Var(&o.hz, "collect", 2, "how often a second the machine is sampled during a trial; 0 is never")
	c.Flags().BoolVar(&o.list, "list", false, "show which counters this machine has, and exit")
	formatFlag(c, &o.format, "text", "json")
	completes(c, "source", completeWords(lists.Map(storage.Sources, func(s storage.Source) string { return s.Name + "\t" + s.Title })...))
	completesFolders(c, "identity")
	completesPaths(c, nil, "cert", "key")
	return c
}

// serve answers until SIGINT.
func (o *agentSetting) serve(w World, sources []storage.Source) error {
	if (o.cert == "") != (o.key == "") {
		return fail(Usage, "--cert and --key belong together")
	}
	host, err := listening(o.listen, ":"+agent.DefaultPort)
	if err != nil {
		return err
	}
	id, err := o.known()
	if err != nil {
		return err
	}
	b, err := agent.NewBook(agent.BookOptions{Name: o.name, Version: Version, Sources: sources, Hz: o.hz})
	if err != nil {
		return fail(Failed, "%w", err)
	}
	defer func() { _ = b.Close() }()
	l, err := net.Listen("tcp", o.listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return withHint(fail(Failed, "listening at %s: the port is in use", o.listen), "end the program that has it, another plimsoll agent perhaps, or give --listen %s", net.JoinHostPort(host, "0"))
	}
	if err != nil {
		return fail(Failed, "%w", err)
	}
	first, second, stop := w.Signals()
	defer stop()
	end, cancel := context.WithCancel(first)
	defer cancel()
	context.AfterFunc(second, cancel)
	if err := o.tell(end, w, b, id, host, l.Addr()); err != nil {
		_ = l.Close() // nothing was served
		return err
	}
	return failing(agent.NewServer(b, id.Certificate, id.Token, w.Stderr).Serve(end, l))
}

// known opens the agent's identity.
func (o *agentSetting) known() (*agent.Identity, error) {
	dir := o.identity
	if dir == "" {
		base, err := os.UserConfigDir()
		if err != nil {
			return nil, withHint(fail(Usage, "there is no folder for the agent's identity: %w", err), "name one by --identity")
		}
		dir = filepath.Join(base, "plimsoll-agent")
	}
	id, err := agent.OpenIdentity(dir, hostName())
	if err != nil {
		return nil, fail(Failed, "%w", err)
	}
	if o.cert != "" {
		if id.Certificate, err = agent.KeyPair(o.cert, o.key); err != nil {
			return nil, fail(Failed, "--cert: %w", err)
		}
	}
	return id, nil
}

// tell prints what the user needs to name this agent to a run.
func (o *agentSetting) tell(ctx context.Context, w World, b *agent.Book, id *agent.Identity, host string, at net.Addr) error {
	a, err := b.About(ctx)
	if err != nil {
		return fail(Failed, "%w", err)
	}
	for _, s := range a.Sources {
		if s.Absent == "" {
			fmt.Fprintf(w.Stderr, "counts %s%s\n", s.Name, unverifiedMark(s.Verified))
		}
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = hostName()
	}
	_, port, err := net.SplitHostPort(at.String())
	if err != nil {
		return fail(Failed, "%w", err)
	}
	address := "https://" + net.JoinHostPort(host, port) + "#" + agent.Fingerprint(id.Certificate.Certificate[0])
	fmt.Fprintln(w.Stdout, address)
	fmt.Fprintf(w.Stderr, "on the machine that measures: plimsoll run … --agent '%s' --agent-token-file FILE\nwhere FILE is a copy of %s; Ctrl-C ends the agent\n", address, harmless.Text(id.TokenFile))
	return nil
}

func unverifiedMark(verified bool) string {
	if verified {
		return ""
	}
	return " (unverified)"
}

type sourceRow struct {
	Name       string `json:"name"`
	Title      string `json:"title"`
	Verified   bool   `json:"verified"`
	Tried      string `json:"tried,omitempty"`
	Documented string `json:"documented"`
	Here       bool   `json:"here"`
	Absent     string `json:"absent,omitempty"`
}

// listSources shows which counters this machine has, and why it has not the rest.
func listSources(w World, sources []storage.Source, format string) error {
	snap, errs := storage.Read(context.Background(), storage.Here(), sources, "")
	var rows []sourceRow
	for _, s := range sources {
		r := sourceRow{Name: s.Name, Title: s.Title, Verified: s.Verified(), Tried: s.Tried, Documented: s.Documented, Here: len(snap[s.Name]) > 0}
		if err := errs[s.Name]; err != nil {
			r.Absent = err.Error()
		}
		rows = append(rows, r)
	}
	if format == "json" {
		return printJSON[[]sourceRow](w.Stdout, rows)
	}
	fmt.Fprintf(w.Stdout, "%-15s %-36s %-11s %s\n", "SOURCE", "OF", "READER", "HERE")
	for _, r := range rows {
		tried, here := "unverified", "yes"
		if r.Verified {
			tried = "verified"
		}
		if !r.Here {
			here = "no: " + harmless.Text(r.Absent)
		}
		fmt.Fprintln(w.Stdout, strings.TrimRight(fmt.Sprintf("%-15s %-36s %-11s %s", r.Name, r.Title, tried, here), " "))
	}
	return nil
}
