package build

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/record"
)

// Look looks at a file without executing it: is it a program of this machine, and
// the one that is demanded. The build has no version then. Afterwards the file is
// in memory, read from the disk whole.
func Look(a Asked) (record.Build, error) {
	if a.Socket != "" {
		return lookBehind(a)
	}
	b := record.Build{Program: a.Program, Level: a.Level, Path: a.Path}
	f, err := open(a.Path, "program")
	if err != nil {
		return b, err
	}
	defer f.Close()
	switch st, err := f.Stat(); {
	case err != nil:
		return b, err
	case st.Mode()&0o111 == 0:
		return b, fmt.Errorf("%s is not executable (chmod +x makes it so)", a.Path)
	case unix.Access(a.Path, unix.X_OK) != nil:
		return b, fmt.Errorf("%s can't be executed here: it is not for you, or its file system is mounted noexec", a.Path)
	}
	// First: what is no program may be without an end.
	if b.BuildID, err = ours(f, a.Path); err != nil {
		return b, err
	}
	forget(f)
	err = digested(&b, f, a.SHA256)
	return b, err
}

// digested sets a build's digest and size by its file; demanded, where given, is what
// the digest must be.
func digested(b *record.Build, f *os.File, demanded string) (err error) {
	sum := sha256.New()
	if b.Bytes, err = io.Copy(sum, f); err != nil {
		return fmt.Errorf("reading %s: %w", b.Path, err)
	}
	b.SHA256 = hex.EncodeToString(sum.Sum(nil))
	if demanded != "" && demanded != b.SHA256 {
		return fmt.Errorf("%s is another file than before: its SHA-256 digest is %.12s… and was %.12s…", b.Path, b.SHA256, demanded)
	}
	return nil
}

// open opens a file that a binding names, which is to be a program or a configuration:
// a regular one, as nothing else is waited for.
func open(path, what string) (*os.File, error) {
	f, err := safepath.OpenRegular(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s is not there", path)
	case errors.Is(err, safepath.ErrNotRegular):
		if st, serr := os.Stat(path); serr == nil && st.IsDir() {
			return nil, fmt.Errorf("%s is a directory; name the %s in it", path, what)
		}
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	return f, err
}

// ours is an error where a file is no program of this machine's processor that
// could be started; else it gives its build id.
func ours(f *os.File, path string) (buildID string, err error) {
	head := make([]byte, 4)
	if _, err := f.ReadAt(head, 0); err == nil && bytes.HasPrefix(head, []byte("#!")) {
		return "", fmt.Errorf("%s is a script: name the program that it runs, since that is what is measured", path)
	}
	e, err := elf.NewFile(f)
	if err != nil || e.Type != elf.ET_EXEC && e.Type != elf.ET_DYN {
		return "", fmt.Errorf("%s is not a program that Linux can execute (not an ELF executable)", path)
	}
	running, err := elf.Open("/proc/self/exe")
	if err != nil {
		return "", fmt.Errorf("finding out which processor this is: %w", err)
	}
	defer func() { _ = running.Close() }()
	if e.Machine != running.Machine || e.Class != running.Class {
		return "", fmt.Errorf("%s is for another processor: %s, and this machine has %s", path, machine(e), machine(running))
	}
	if loader := Loader(e); loader != "" {
		if _, err := os.Stat(loader); err != nil {
			return "", fmt.Errorf("%s can't be started here: it needs the loader %s, which is not there", path, loader)
		}
	}
	return idOf(e), nil
}

func machine(e *elf.File) string {
	name := strings.ToLower(strings.TrimPrefix(e.Machine.String(), "EM_"))
	return fmt.Sprintf("%s (%d bit)", name, map[elf.Class]int{elf.ELFCLASS32: 32, elf.ELFCLASS64: 64}[e.Class])
}

// Loader is the program that the kernel loads beside a dynamically linked one; ""
// where there is none.
func Loader(e *elf.File) string {
	for _, p := range e.Progs {
		if p.Type != elf.PT_INTERP || p.Filesz > 4096 {
			continue
		}
		if text, err := io.ReadAll(p.Open()); err == nil {
			return strings.TrimRight(string(text), "\x00")
		}
	}
	return ""
}

// idOf reads the build id: the note of GNU's linkers, in hexadecimal digits, else
// that of Go's, which is text.
func idOf(e *elf.File) string {
	for _, name := range []string{".note.gnu.build-id", ".note.go.buildid"} {
		s := e.Section(name)
		if s == nil || s.Size > 4096 {
			continue
		}
		note, err := s.Data()
		if err != nil || len(note) < 16 {
			continue
		}
		// elf(5): sizes of name and description, type, name and description, each
		// filled up to four bytes.
		n, size := e.ByteOrder.Uint32(note), e.ByteOrder.Uint32(note[4:])
		from := uint64(12) + uint64(n+3)/4*4
		if from+uint64(size) > uint64(len(note)) {
			continue
		}
		id := note[from : from+uint64(size)]
		if name == ".note.go.buildid" {
			return string(id)
		}
		return hex.EncodeToString(id)
	}
	return ""
}

// forget has the kernel drop what it keeps of the file in memory, so that the
// read that follows puts every build there in the same way. What a compiler or cp
// has just written lies there in larger pieces than what was read from the disk
// long ago, and a start from larger pieces takes fewer page faults: of one and
// the same runc, the copy started 6 % faster than the installed file. Pages that a
// running process has mapped stay. It is a hint, so there is no error.
func forget(f *os.File) {
	_ = f.Sync() // what is still to be written can't be dropped
	_ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
}
