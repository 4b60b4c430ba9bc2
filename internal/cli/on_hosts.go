//go:build linux

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"plimsoll/internal/measure/fleet"
	"plimsoll/internal/measure/host"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/evaluate"
	"plimsoll/internal/understand/view"
	"plimsoll/internal/understand/words"
)

// hostsRun is a run of the same study on several hosts.
type hostsRun struct {
	w              World
	asked          *runAsked
	finish, broken context.Context
	ssh            *fleet.SSH
	programs       *fleet.Programs
	ledger         *fleet.Ledger
	mu             sync.Mutex // of ledger
	progress       hostsProgress
	copying        chan struct{} // a place for each program that is on its way
}

// mostCopies is how many programs are brought to hosts at once.
const mostCopies = 8

// runByHosts is plimsoll run --on ssh://.
func runByHosts(w World, cmd *cobra.Command, args []string, a *runAsked, finish, broken context.Context) (err error) {
	r := &hostsRun{w: w, asked: a, finish: finish, broken: broken, copying: make(chan struct{}, mostCopies)}
	if r.ssh, err = fleet.NewSSH(w.LookPath, host.RuntimeDir(w.Getenv)); err != nil {
		return withHint(fail(NothingHere, "%w", err), "install your distribution's OpenSSH client")
	}
	defer func() { err = errors.Join(err, r.ssh.Close()) }()
	own, err := os.Executable()
	if err != nil {
		return fail(Failed, "finding the program for the hosts: %w", err)
	}
	called, err := ownProgram(w)
	if err != nil {
		called = own
	}
	r.programs = &fleet.Programs{Own: own, Called: called, Given: a.hosts.programs}
	if a.resume == "" {
		err = r.plan(cmd, args)
	} else if err = keepsStudy(cmd.Flags(), args, "on"); err == nil {
		err = r.reopen(a.resume)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.ledger.Close()) }()
	r.progress = newHostsProgress(w, a.progress, r.names())
	return r.execute()
}

// plan writes down what is to be run where. The study is read here, so that a slip
// in it is found before anything is copied.
func (r *hostsRun) plan(cmd *cobra.Command, args []string) error {
	a := r.asked
	if a.trust {
		return fail(Usage, "--trust-record is for --resume: a new run has no record yet")
	}
	all, err := targetsOf(a.where.on, a.hosts.become)
	if err != nil {
		return err
	}
	s, err := newSetting(r.w)
	if err != nil {
		return err
	}
	name := studyName(args)
	st, _, err := s.read(name, a.changes)
	if err != nil {
		return err
	}
	src, err := study.Find(name)
	if err == nil {
		_, err = study.Read(src, s.studyCatalogue())
	}
	if err != nil {
		return &exitError{status: Usage, err: err}
	}
	dir, err := outputDir(a.dir, name)
	if err != nil {
		return err
	}
	if holdsRun(dir) || fleet.Kept(dir) {
		return withHint(fail(Usage, "%s already holds a run", dir), "go on with it by plimsoll run --resume %s, or choose another directory", shortPath(dir))
	}
	for _, t := range all {
		if there := notFresh(filepath.Join(dir, t.Name)); there != "" {
			return withHint(fail(Usage, "%s is there already, where the record of %s and its log would be written", shortPath(there), t.Name), "choose another directory by -o")
		}
	}
	if r.ledger, err = fleet.OpenLedger(dir); err != nil {
		return fail(Failed, "%w", err)
	}
	r.ledger.Study = src.Folder()
	if len(r.ledger.Study) > 0 {
		name = "./" + src.Name()
	}
	flags := slices.DeleteFunc(flagsFor(inJob), func(f string) bool { return f == "seed" })
	r.ledger.Args = append([]string{name}, given(cmd.Flags(), append(flags, "wait", "stop-after"))...)
	r.ledger.Args = append(r.ledger.Args, "--seed="+strconv.FormatUint(cmp.Or(st.Protocol.Seed, drawnSeed()), 10))
	for _, t := range all {
		r.ledger.Hosts = append(r.ledger.Hosts, fleet.HostAccount{Target: t, ID: record.NewRunID()})
	}
	if err := r.ledger.Write(); err != nil {
		return errors.Join(fail(Failed, "%w", err), r.ledger.Close())
	}
	return nil
}

// notFresh is what lies where a host's record or its log would be; "" where both can
// be made. A record that is there may be of another study, and other files may be
// anybody's: they would be sent to the host, and written over.
func notFresh(dir string) string {
	if _, err := os.Lstat(dir + ".log"); err == nil {
		return dir + ".log"
	}
	entries, err := os.ReadDir(dir)
	if len(entries) == 0 && (err == nil || errors.Is(err, fs.ErrNotExist)) {
		return ""
	}
	return dir
}

// reopen goes on with a run that was begun so.
func (r *hostsRun) reopen(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fail(Failed, "%w", err)
	}
	trusted, err := trustFiles(r.w, "account", "it says what is run on the hosts", r.asked.trust, dir, filepath.Join(dir, fleet.LedgerFile))
	if err != nil {
		return err
	}
	if r.ledger, err = fleet.OpenLedger(dir, trusted...); err != nil {
		return fail(Failed, "%w", err)
	}
	return nil
}

func (r *hostsRun) names() (names []string) {
	for _, h := range r.ledger.Hosts {
		names = append(names, h.Name)
	}
	return names
}

// execute runs all hosts at once, and tells how each has ended.
func (r *hostsRun) execute() error {
	outcomes := make([]outcome, len(r.ledger.Hosts))
	var wg sync.WaitGroup
	for i := range r.ledger.Hosts {
		wg.Go(func() {
			h := r.host(i)
			outcomes[i] = h.course()
			h.progress.End()
		})
	}
	wg.Wait()
	r.progress.End()
	return r.tell(outcomes)
}

// tell prints how each host has ended, and the tables of those that have trials.
func (r *hostsRun) tell(outcomes []outcome) error {
	out := shortPath(r.ledger.Dir)
	failed, some, open := 0, 0, 0
	var dirs []string
	for i, o := range outcomes {
		h := r.ledger.Hosts[i]
		fmt.Fprintf(r.w.Stderr, "%s: %s\n", h.Name, words.Prose(o.text()))
		if o.advice != "" {
			fmt.Fprintf(r.w.Stderr, "  %s\n", words.Prose(o.advice))
		}
		switch {
		case o.err != nil:
			failed++
		case o.open:
			open++
		case o.sum.Failed > 0 || o.status != Done:
			some++
		}
		if o.sum.Trials > 0 {
			dirs = append(dirs, filepath.Join(out, h.Name))
		}
	}
	if len(dirs) > 0 {
		if err := r.report(dirs); err != nil {
			return err
		}
		fmt.Fprintf(r.w.Stderr, "The records are in %s; plimsoll report %s prints this again.\n", out, strings.Join(dirs, " "))
	}
	resume := fmt.Sprintf("plimsoll run --resume %s goes on with what is not done", out)
	switch {
	case open > 0:
		return withHint(fail(Interrupted, "%s of %d not done", words.Plural(open, "host"), len(outcomes)), "%s", resume)
	case failed == len(outcomes):
		return withHint(fail(Failed, "no host could be measured"), "%s", resume)
	case failed > 0:
		return withHint(fail(SomeFailed, "%d of %s could not be measured to the end", failed, words.Plural(len(outcomes), "host")), "%s", resume)
	case some > 0:
		return fail(SomeFailed, "on %s some trials failed: the report says which and why", words.Plural(some, "host"))
	}
	return nil
}

// report prints each host's table, and makes its page anew from the numbers that
// have arrived.
func (r *hostsRun) report(dirs []string) error {
	quiet := r.w
	quiet.Stderr = io.Discard
	for _, dir := range dirs {
		res, err := readWith(dir, evaluate.Options{Levels: view.Levels})
		if err != nil {
			return err
		}
		runPage(quiet, dir, res)
	}
	return r.asked.reportFlags.print(r.w, dirs)
}
