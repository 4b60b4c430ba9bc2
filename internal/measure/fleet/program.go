package fleet

import (
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"plimsoll/internal/common/safepath"
)

// arch is Go's word for what uname -m says, empty where there is no Plimsoll for it.
func arch(machine string) string {
	switch machine {
	case "x86_64", "amd64":
		return "amd64"
	case "aarch64", "arm64":
		return "arm64"
	}
	return ""
}

// Program is a plimsoll that can be brought to a host.
type Program struct {
	Path   string
	Arch   string
	Size   int64  // bytes
	Digest string // SHA-256, in hexadecimal
}

// Programs are those that there are, by Go's word for the architecture.
type Programs struct {
	// Own is the program that runs now, Called the path by which it was started:
	// one for another architecture may lie beside it.
	Own, Called string
	// Given are those that the user names, by architecture.
	Given map[string]string

	read map[string]*Program
}

// For gives the program for a host's machine.
func (p *Programs) For(arch string) (*Program, error) {
	if x := p.read[arch]; x != nil {
		return x, nil
	}
	path := p.Given[arch]
	switch {
	case path != "":
	case arch == runtime.GOARCH:
		path = p.Own
	default:
		if path = p.beside(arch); path == "" {
			return nil, fmt.Errorf("its processor is %s, and this program is for %s", arch, runtime.GOARCH)
		}
	}
	x, err := readProgram(path, arch)
	if err != nil {
		return nil, err
	}
	if p.read == nil {
		p.read = map[string]*Program{}
	}
	p.read[arch] = x
	return x, nil
}

// beside looks for a program for another architecture, as a release calls it,
// where ours lies.
func (p *Programs) beside(arch string) string {
	dir := filepath.Dir(p.Called)
	for _, pattern := range []string{"plimsoll-linux-" + arch, "plimsoll-*-linux-" + arch} {
		found, _ := filepath.Glob(filepath.Join(dir, pattern)) // the pattern is a good one
		for _, f := range found {
			if info, err := os.Stat(f); err == nil && info.Mode().IsRegular() {
				return f
			}
		}
	}
	return ""
}

// machines are the processors of ELF files.
var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// readProgram sees that a file is a static program for an architecture.
func readProgram(path, arch string) (*Program, error) {
	f, err := safepath.OpenRegular(path)
	if err != nil {
		return nil, fmt.Errorf("reading the program for the host: %w", err)
	}
	defer f.Close()
	x, err := elf.NewFile(f)
	if err != nil {
		return nil, fmt.Errorf("%s is not a Linux program: %w", path, err)
	}
	if x.Machine != machines[arch] {
		return nil, fmt.Errorf("%s is for %s, and the host is %s", path, strings.TrimPrefix(x.Machine.String(), "EM_"), arch)
	}
	for _, s := range x.Progs {
		if s.Type == elf.PT_INTERP {
			return nil, fmt.Errorf("%s needs shared libraries, which the host may not have: build it by CGO_ENABLED=0", path)
		}
	}
	h := sha256.New()
	n, err := io.Copy(h, io.NewSectionReader(f, 0, 1<<40))
	if err != nil {
		return nil, fmt.Errorf("reading the program for the host: %w", err)
	}
	return &Program{Path: path, Arch: arch, Size: n, Digest: hex.EncodeToString(h.Sum(nil))}, nil
}

// Version is what the program that was brought there says of itself.
func (h *Host) Version(ctx context.Context) (string, error) {
	out, err := h.run(ctx, askLimit, nil, `echo `+marker+`; "$base/`+h.id+`/`+programName+`" version`)
	if err != nil {
		return "", h.unstarted(h.failed("starting the program", out, err), out)
	}
	said, _ := answered(out)
	return strings.TrimSpace(said), nil
}

// copyLimit is how long the program may take to the host: 100 MB at 100 kB/s.
const copyLimit = 20 * time.Minute

// differs is the status of a copy that is not what was sent.
const differs = 9

// Bring makes the run's folder and puts the program there. A program that is there
// already, by its digest, is not sent again.
func (h *Host) Bring(ctx context.Context, f *Found, p *Program) error {
	if f.Ours && f.Digest == p.Digest {
		return nil
	}
	file, err := safepath.OpenRegular(p.Path)
	if err != nil {
		return fmt.Errorf("reading the program for %s: %w", h.Name, err)
	}
	defer file.Close()
	dir, program := `"$base/`+h.id+`"`, `"$base/`+h.id+`/`+programName+`"`
	text := ""
	if !f.Ours {
		// Where there is no space for the ledger, nobody could tell later whose folder it is.
		ledger := `"$base/` + h.id + `/` + ledgerName + `"`
		text = `mkdir -p "$base" && mkdir ` + dir + ` || exit 1; echo ` + h.id + ` >` + ledger + ` || { rm -f ` + ledger + `; rmdir ` + dir + `; exit 1; }; `
	}
	fresh := `"$base/` + h.id + `/` + programName + `.new"`
	text += fmt.Sprintf(`cat >%s && chmod 700 %s || exit 1; sum=$(sha256sum <%s) || exit 1; case "$sum" in %s*) mv -f %s %s;; *) exit %d;; esac`,
		fresh, fresh, fresh, p.Digest, fresh, program, differs)
	out, err := h.run(ctx, copyLimit, file, text)
	if err == nil {
		return nil
	}
	var e *Error
	if failed := h.failed("copying the program", out, err); errors.As(failed, &e) {
		switch {
		case strings.Contains(string(out.Stderr), "No space left"):
			e.What = "there was no space left for the program"
		case strings.Contains(e.What, fmt.Sprintf("status %d", differs)):
			e.What = "the program has not arrived as it was sent (its SHA-256 differs)"
		}
		return e
	}
	return err
}
