package fleet

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/measure/child"
	"plimsoll/internal/record"
)

// FarCommand is the hidden command by which the copied program is driven.
const FarCommand = "on-host"

// The verbs of the hidden command.
const (
	VerbTake    = "take"    // reads what is to be run from standard input
	VerbRun     = "run"     // runs it
	VerbAwait   = "await"   // waits until it runs
	VerbSend    = "send"    // sends the record until the run has ended
	VerbStop    = "stop"    // asks it to end
	VerbFetched = "fetched" // the record has arrived
	VerbRemove  = "remove"  // takes everything away
	VerbClean   = "clean"   // does so where the run has ended and its record was fetched
)

// program is the copied program with a verb, for a script.
func (h *Host) program(verb string) string {
	return fmt.Sprintf(`"$base/%s/%s" %s %s "$base/%s"`, h.id, programName, FarCommand, verb, h.id)
}

// Begin brings a request with the study's files, and the record in dir where that is
// gone on with, and starts the run. It goes on there when this returns, whatever
// becomes of the connection; where not all could be sent, it is not started.
func (h *Host) Begin(ctx context.Context, q Request, study map[string][]byte, dir string) error {
	q.ID = h.id
	r, w := io.Pipe()
	sent := make(chan error, 1)
	go func() {
		err := sendRequest(w, q, study, dir)
		_ = w.CloseWithError(err) // it never fails
		sent <- err
	}()
	// What is begun in the background keeps neither the shell's streams nor its
	// session.
	text := h.program(VerbTake) + ` || exit 1; (` + h.program(VerbRun) + ` </dev/null >/dev/null 2>&1 &); ` + h.program(VerbAwait)
	out, err := h.run(ctx, copyLimit, r, text)
	_ = r.Close() // it never fails; who still sends is told io.ErrClosedPipe
	// What failed here is the cause, whatever the host says of the part that it got.
	if own := <-sent; own != nil && !errors.Is(own, io.ErrClosedPipe) {
		return &Error{Host: h.Name, What: "sending what is to be run: " + own.Error(), Err: own}
	}
	if err == nil {
		return nil
	}
	return h.unstarted(h.failed("starting the run", out, err), out)
}

// unstarted says why a program that was brought there was not executed.
func (h *Host) unstarted(failed error, out child.Output) error {
	var e *Error
	if errors.As(failed, &e) && strings.Contains(string(out.Stderr), "/"+programName+": Permission denied") {
		e.What = "the program that was brought there may not be executed: " + lastLine(string(out.Stderr))
		e.Advice = "its file system may be mounted noexec: let XDG_CACHE_HOME there name a folder on another one"
	}
	return failed
}

// sendRequest sends what is to be run. That all was sent is said only where it was:
// else the host begins nothing.
func sendRequest(out io.Writer, q Request, study map[string][]byte, dir string) error {
	w := writer{bufio.NewWriter(out)}
	data, err := json.Marshal(q)
	if err == nil {
		err = w.whole(requestName, data)
	}
	for _, name := range slices.Sorted(maps.Keys(study)) {
		if err == nil {
			err = w.whole(path.Join(studyDir, name), study[name])
		}
	}
	if q.Resume && err == nil {
		err = sendRecord(w, dir)
	}
	if err == nil {
		err = w.frame(frame{Over: &Over{}}, nil)
	}
	if err == nil {
		err = w.w.Flush()
	}
	return err
}

// sentBack is what a run that is gone on with has in its record. Whatever else lies
// there is the user's, and stays here.
var sentBack = []string{record.RunFile, record.TrialsFile, record.InsideFile, record.OutputDir, record.SamplesDir}

func sendRecord(w writer, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	all, err := files(root)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if first, _, _ := strings.Cut(name, "/"); !slices.Contains(sentBack, first) {
			continue
		}
		f, err := root.Open(name)
		if err != nil {
			return err
		}
		err = w.frame(frame{File: path.Join(recordDir, name), Size: all[name], Anew: true}, f)
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// Stop asks the run to end after the trial in flight, the second time at once.
func (h *Host) Stop(ctx context.Context) error {
	return h.tell(ctx, "asking the run to end", h.program(VerbStop))
}

// Fetched says there that the record has arrived.
func (h *Host) Fetched(ctx context.Context) error {
	return h.tell(ctx, "saying that the record has arrived", h.program(VerbFetched))
}

// Remove takes the run's folder away there, with all that the run has left.
func (h *Host) Remove(ctx context.Context) error {
	return h.tell(ctx, "removing what was brought there", h.program(VerbRemove))
}

// Discard removes a folder into which no run ever came: the program may not even
// have arrived. Where one came, it keeps all of it and fails: that run may go on, and
// its record is still to be fetched.
func (h *Host) Discard(ctx context.Context) error {
	return h.tell(ctx, "removing what was brought there",
		fmt.Sprintf(`cd "$base" || exit 0; if [ "$(cat %[1]s/%[2]s 2>/dev/null)" = %[1]s ]; then if [ -e %[1]s/%[3]s ]; then exit 1; fi; rm -rf %[1]s; fi; cd .. && rmdir hosts 2>/dev/null && cd .. && rmdir plimsoll 2>/dev/null; true`, h.id, ledgerName, processName))
}

func (h *Host) tell(ctx context.Context, doing, text string) error {
	out, err := h.run(ctx, askLimit+beginLimit, nil, text)
	if err != nil {
		return h.failed(doing, out, err)
	}
	return nil
}

// cleanLimit is how long a host may take to remove what killed runs have left.
const cleanLimit = 10 * time.Minute

// Clean removes the folders of runs that have ended and whose records were
// fetched, and gives what was done and what stays, a line each. All: those whose
// record nobody has fetched, too.
func (h *Host) Clean(ctx context.Context, all bool) (lines []string, err error) {
	more := ""
	if all {
		more = " --unfetched"
	}
	// A folder in which no run's process was is of a copy that was cut off. What can't be
	// executed any more, as on a file system that is noexec by now, is no such one.
	text := `echo ` + marker + `; cd "$base" 2>/dev/null || exit 0; status=0; for d in *; do if [ "$(cat "$d/` + ledgerName + `" 2>/dev/null)" = "$d" ]; then ` +
		`if [ -x "$d/` + programName + `" ] || [ -e "$d/` + processName + `" ]; then "$base/$d/` + programName + `" ` + FarCommand + ` ` + VerbClean + ` "$base/$d"` + more + ` || status=1; ` +
		`else rm -rf "$d" && echo "removed $base/$d" || status=1; fi; fi; done; cd .. && rmdir hosts 2>/dev/null && cd .. && rmdir plimsoll 2>/dev/null; exit $status`
	out, err := h.run(ctx, cleanLimit, nil, text)
	done, _ := answered(out)
	for line := range strings.Lines(done) {
		lines = append(lines, harmless.Text(strings.TrimRight(line, "\n")))
	}
	if err != nil {
		if e := h.noSudo(string(out.Stderr)); e != nil {
			return lines, e
		}
		return lines, h.failed("cleaning up", out, err)
	}
	return lines, nil
}
