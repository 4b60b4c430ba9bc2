package fleet

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// frame is what goes over a connection: a line of JSON, and behind it as many
// bytes of a file as it says.
type frame struct {
	// File is the file's path below the folder, with slashes; Size bytes of it
	// follow, which belong at the place At. Anew: the file is another one than
	// before, and these are its first.
	File string `json:"file,omitempty"`
	At   int64  `json:"at,omitempty"`
	Size int64  `json:"size,omitempty"`
	Anew bool   `json:"anew,omitempty"`
	// Sum is the digest of the whole file, which the receiver should have now.
	Sum string `json:"sum,omitempty"`
	// Alive says nothing but that the connection is.
	Alive bool `json:"alive,omitempty"`
	// Over: the run has ended, and everything was sent.
	Over *Over `json:"over,omitempty"`
}

// Over is how a run has ended there.
type Over struct {
	Exit int `json:"exit"` // the exit status of its plimsoll
	// Cut: its process is gone without having said so.
	Cut bool `json:"cut,omitempty"`
}

// The bounds of what a host may send.
const (
	maxLine     = 16 << 10
	maxFiles    = 1 << 20
	maxGreeting = 1 << 20 // of what a login prints, bytes
)

type writer struct{ w *bufio.Writer }

func (w writer) frame(f frame, data io.Reader) error {
	line, err := json.Marshal(f)
	if err != nil {
		return err
	}
	if _, err := w.w.Write(append(line, '\n')); err != nil {
		return err
	}
	if f.Size > 0 {
		return f.copy(w.w, data)
	}
	return nil
}

// copy copies as many bytes of a frame's file as it says. Of fewer, a bare EOF would
// not say where.
func (f frame) copy(to io.Writer, from io.Reader) error {
	n, err := io.CopyN(to, from, f.Size)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return fmt.Errorf("%s: copied %d of %d bytes: %w", f.File, n, f.Size, err)
	}
	return nil
}

// whole sends a small file that is in memory.
func (w writer) whole(name string, data []byte) error {
	return w.frame(frame{File: name, Size: int64(len(data)), Anew: true}, bytes.NewReader(data))
}

// next reads the line of a frame; the file's bytes are yet to be read.
func next(r *bufio.Reader) (f frame, err error) {
	line, err := r.ReadSlice('\n')
	if err != nil {
		if errors.Is(err, bufio.ErrBufferFull) {
			err = errors.New("a line without an end")
		}
		return f, err
	}
	if err := json.Unmarshal(line, &f); err != nil {
		return f, fmt.Errorf("reading a frame: %w", err)
	}
	if f.Size < 0 || f.At < 0 || f.File != "" && !isLocal(f.File) {
		return f, fmt.Errorf("a frame for the file %q at %d", f.File, f.At)
	}
	return f, nil
}

// isLocal says whether a name leads below the folder and nowhere else, by names
// that a record has.
func isLocal(name string) bool {
	return name != "" && len(name) < 512 && path.Clean(name) == name && fs.ValidPath(name) && name != "." && strings.Count(name, "/") < 8 &&
		!strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' || r == ':' })
}

// take writes the bytes of a frame below a folder.
func take(root *os.Root, f frame, r io.Reader) error {
	if dir := path.Dir(f.File); dir != "." {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	name, flag := f.File, os.O_WRONLY|os.O_CREATE
	if f.Anew { // whoever reads it now keeps the one that he has
		name += ".part"
		flag |= os.O_TRUNC
	}
	file, err := root.OpenFile(name, flag, 0o644)
	if err != nil {
		return err
	}
	if _, err = file.Seek(f.At, io.SeekStart); err == nil {
		err = f.copy(file, r)
	}
	if err = errors.Join(err, file.Close()); err == nil && f.Anew {
		err = root.Rename(name, f.File)
	}
	return err
}

// have is what the receiver has of a file.
type have struct {
	Size int64  `json:"size"`
	Sum  string `json:"sum"`
}

// sum is the digest of a file's first bytes.
func sum(root *os.Root, name string, size int64) (string, error) {
	f, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return digest(io.NewSectionReader(f, 0, size))
}

// digest is the SHA-256 of what is read, in hexadecimal.
func digest(r io.Reader) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// files lists the regular files of a record that are sent, with their sizes.
func files(root *os.Root) (map[string]int64, error) {
	out := map[string]int64{}
	err := fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it was just replaced
		}
		if err != nil {
			return err
		}
		if !d.Type().IsRegular() || stays(name) {
			return nil
		}
		info, err := d.Info()
		if err == nil {
			out[name] = info.Size()
		}
		if len(out) > maxFiles {
			return fmt.Errorf("there are more than %d files", maxFiles)
		}
		return nil
	})
	return out, err
}

// stays says which files are neither sent nor taken: locks, what is being written,
// whatever else is hidden or lies in a hidden folder, and the page, which is made anew
// here from the numbers.
func stays(name string) bool {
	return !isLocal(name) || strings.HasPrefix(name, ".") || strings.Contains(name, "/.") || strings.HasSuffix(name, ".part") || name == "report.html"
}

// haves are what there is of a record.
func haves(root *os.Root) (map[string]have, error) {
	out := map[string]have{}
	all, err := files(root)
	if err != nil {
		return nil, err
	}
	for name, size := range all {
		s, err := sum(root, name, size)
		if err != nil {
			return nil, err
		}
		out[name] = have{size, s}
	}
	return out, nil
}
