package executed

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
)

// Running knows the programs of processes by their digests, of which each file's is
// taken once.
type Running struct{ sums map[File]string }

// Of is the SHA-256 digest of the program that a process runs, whatever lies at its path
// by now.
func (r *Running) Of(pid int) (string, error) {
	if pid <= 0 {
		return "", fmt.Errorf("its process is not known")
	}
	f, err := os.Open(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return "", fmt.Errorf("looking at the program of process %d: %w", pid, err)
	}
	defer f.Close()
	is, err := fileOf(int(f.Fd()))
	if err != nil {
		return "", err
	}
	if s := r.sums[is]; s != "" {
		return s, nil
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("reading the program of process %d: %w", pid, err)
	}
	if r.sums == nil {
		r.sums = map[File]string{}
	}
	r.sums[is] = hex.EncodeToString(h.Sum(nil))
	return r.sums[is], nil
}
