package fleet

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/measure/child"
)

// Found is what a host says of itself before anything is brought there.
type Found struct {
	System  string // as uname -s has it
	Machine string // as uname -m has it
	User    string
	Root    bool
	// Base is the folder below which each run has its own.
	Base string
	Free int64 // bytes that may be used there
	// Ours: the run's folder is there, with its ledger.
	Ours bool
	// Digest is of the program that is there, empty where there is none.
	Digest string
}

// marker begins the answer: what a login prints comes before it.
const marker = "plimsoll-found"

// answered is what a host has printed behind the marker.
func answered(out child.Output) (rest string, found bool) {
	_, rest, found = strings.Cut(string(out.Stdout), marker+"\n")
	return rest, found
}

// askWhat makes the folder of all runs, and says where it is.
const askWhat = `echo ` + marker + `; mkdir -p "$base" && cd "$base" || exit 1; uname -s; uname -m; id -u; id -un; pwd; ` +
	`df -Pk . | tail -n 1; `

// Probe asks a host what it is.
func (h *Host) Probe(ctx context.Context) (*Found, error) {
	text := askWhat + `if [ "$(cat ` + h.id + `/` + ledgerName + ` 2>/dev/null)" = ` + h.id + ` ]; then echo ours; sha256sum <` + h.id + `/` + programName + ` 2>/dev/null; fi; true`
	out, err := h.run(ctx, askLimit, nil, text)
	if err != nil {
		if e := h.noSudo(string(out.Stderr)); e != nil {
			return nil, e
		}
		return nil, h.unfit(out, err)
	}
	rest, found := answered(out)
	lines := strings.Split(strings.TrimRight(rest, "\n"), "\n")
	if !found || len(lines) < 6 {
		return nil, &Error{Host: h.Name, What: "its shell answers something else than it was asked: " + harmless.Text(lastLine(string(out.Stdout)))}
	}
	free, ok := available(lines[5])
	if !ok {
		return nil, &Error{Host: h.Name, What: fmt.Sprintf("df there says %q for the free space of %s", harmless.Text(lines[5]), harmless.Text(lines[4]))}
	}
	f := &Found{System: lines[0], Machine: lines[1], Root: lines[2] == "0", User: harmless.Text(lines[3]), Base: lines[4], Free: free << 10}
	if len(lines) > 6 && lines[6] == "ours" {
		f.Ours = true
	}
	if len(lines) > 7 {
		f.Digest, _, _ = strings.Cut(lines[7], " ")
	}
	return f, nil
}

// unfit says why a host that was asked has not answered.
func (h *Host) unfit(out child.Output, err error) error {
	failed := h.failed("looking at the host", out, err)
	var e *Error
	if !errors.As(failed, &e) || e.Lost || e.Advice != "" {
		return failed
	}
	said := string(out.Stdout)
	switch _, found := answered(out); {
	case found:
		e.What = "no folder for the run can be made there: " + lastLine(string(out.Stderr))
		e.Advice = "let the user's home, or what XDG_CACHE_HOME names there, be one that can be written"
	case lastLine(said) != "":
		e.What = "its shell answers something else than it was asked: " + lastLine(said)
	}
	return e
}

// available is the free space that a line of df -Pk tells, in KiB: it stands before
// the share that is used. The file system's name may have spaces in it.
func available(line string) (int64, bool) {
	fields := strings.Fields(line)
	for i, f := range fields {
		if i > 2 && strings.HasSuffix(f, "%") {
			n, err := strconv.ParseInt(fields[i-1], 10, 64)
			return n, err == nil && n >= 0
		}
	}
	return 0, false
}

// noSudo says what --become lacks there; nil where it is not that.
func (h *Host) noSudo(said string) error {
	if !h.Become {
		return nil
	}
	e := &Error{Host: h.Name}
	switch {
	case strings.Contains(said, "sudo: not found"), strings.Contains(said, "sudo: command not found"), strings.Contains(said, "sudo: No such file"), strings.Contains(said, "'sudo': No such file"):
		e.What, e.Advice = "there is no sudo, by which --become would become root", "log in as root, or leave --become out: what needs root is then not measured"
	case strings.Contains(said, "password is required"), strings.Contains(said, "authentication is required"), // sudo-rs
		strings.Contains(said, "a terminal is required"), strings.Contains(said, "you must have a tty"):
		e.What, e.Advice = "sudo asks for a password, and nobody is there to type it", "allow this user `sudo -n` (NOPASSWD in sudoers), or leave --become out: what needs root is then not measured"
	case strings.Contains(said, "not in the sudoers file"), strings.Contains(said, "is not allowed to"), strings.Contains(said, "may not run sudo"), strings.Contains(said, "afraid I can"): // sudo-rs
		e.What, e.Advice = "this user may not use sudo", "allow it in sudoers, or leave --become out: what needs root is then not measured"
	default:
		return nil
	}
	return e
}

// room is what a run needs beside its program, bytes: its study, its log and the
// beginning of a record.
const room = 64 << 20

// Arch refuses a host on which no Plimsoll could run, and gives Go's word for its
// processor.
func (h *Host) Arch(f *Found) (string, error) {
	arch := arch(f.Machine)
	switch {
	case f.System != "Linux":
		return "", &Error{Host: h.Name, What: fmt.Sprintf("it runs %s, and containers are measured on Linux", harmless.Text(f.System))}
	case arch == "":
		return "", &Error{Host: h.Name, What: fmt.Sprintf("its processor is %q, for which there is no Plimsoll", harmless.Text(f.Machine))}
	}
	return arch, nil
}

// Room refuses a host without space for the program.
func (h *Host) Room(f *Found, p *Program) error {
	if need := p.Size + room; f.Free < need && f.Digest != p.Digest {
		return &Error{Host: h.Name, What: fmt.Sprintf("%s has %d MiB free, and the program and its record need %d MiB", harmless.Text(f.Base), f.Free>>20, need>>20),
			Advice: "make room there"}
	}
	return nil
}
