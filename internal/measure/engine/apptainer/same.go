package apptainer

import (
	"bytes"
	"crypto/sha256"
	"io"
	"os"
)

// sameContent compares two files.
func sameContent(a, b string) (bool, error) {
	x, err := sumOf(a)
	if err != nil {
		return false, err
	}
	y, err := sumOf(b)
	return bytes.Equal(x, y), err
}

func sumOf(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return nil, err
	}
	return h.Sum(nil), nil
}
