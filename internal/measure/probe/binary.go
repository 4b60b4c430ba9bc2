package probe

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// FileName is what Extract calls the probe, and its path's last part in the
// payload image.
const FileName = "plimsoll-probe"

// Binary is the probe for this machine's architecture: a static program, to
// be used on both sides of the border. The caller must not change it.
func Binary() []byte { return image }

// Digest is the SHA-256 of Binary, "sha256:" and hexadecimal digits.
func Digest() string {
	sum := sha256.Sum256(image)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Extract writes the probe into dir, where it can be executed from, and gives
// its path. A probe that is there already and is the same is left alone.
func Extract(dir string) (path string, err error) {
	if len(image) == 0 {
		return "", fmt.Errorf("there is no probe for %s; measure on amd64 or arm64", runtime.GOARCH)
	}
	path = filepath.Join(dir, FileName)
	if have, err := os.ReadFile(path); err == nil && bytes.Equal(have, image) {
		if st, err := os.Stat(path); err == nil && st.Mode().Perm()&0o111 == 0o111 {
			return path, nil
		}
	}
	// A child forked by another goroutine while the file is open for writing
	// would hold it open until it execs, and starting the probe would fail
	// with "text file busy": https://go.dev/issue/22315
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	f, err := os.CreateTemp(dir, "."+FileName+"-*")
	if err != nil {
		return "", fmt.Errorf("extracting the probe: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }() // it is gone where all went well
	_, err = f.Write(image)
	if err == nil {
		err = f.Chmod(0o755)
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return "", fmt.Errorf("extracting the probe to %s: %w", path, err)
	}
	return path, nil
}
