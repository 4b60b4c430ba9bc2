//go:build linux

package imagestore

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

// The reader of an image's files reads every line of every file, and fails
// where there is none.
func TestReadLines(t *testing.T) {
	if len(readLines) == 0 {
		t.Skip("there is no reader for " + runtime.GOARCH)
	}
	program, dir := filepath.Join("readlines", "bin", "read-lines-"+runtime.GOARCH), t.TempDir()
	if out, err := exec.CommandContext(t.Context(), program, dir).CombinedOutput(); err == nil || !strings.Contains(string(out), "there is no file") {
		t.Errorf("of an empty directory: %v: %s", err, out)
	}
	for i := range 1000 { // more names than one call of the kernel gives
		text := strings.Repeat(strings.Repeat("x", i*5)+"\n", 1+i%3)
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%06d-%s.txt", i, strings.Repeat("n", 40))), []byte(text), 0o600))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	out, err := exec.CommandContext(t.Context(), program, dir).CombinedOutput()
	if err != nil || string(out) != "1999 lines in 1000 files\n" {
		t.Errorf("%v: %s", err, out)
	}
	// A file of which nothing can be read is no file of the image's.
	require.NoError(t, os.WriteFile(filepath.Join(dir, "empty.txt"), nil, 0o600))
	if out, err := exec.CommandContext(t.Context(), program, dir).CombinedOutput(); err == nil || !strings.Contains(string(out), "empty.txt") {
		t.Errorf("of an empty file: %v: %s", err, out)
	}
}

// The reader that is committed is what its source builds.
func TestReadLinesIsBuiltFromSource(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the reader: left out with -short")
	}
	zig := os.Getenv("PLIMSOLL_ZIG")
	if zig == "" {
		out, err := exec.CommandContext(t.Context(), "../../../lab/zig", "--path").Output()
		if err != nil {
			t.Skip("the pinned compiler is not installed; lab/zig installs it, or PLIMSOLL_ZIG names it")
		}
		zig = strings.TrimSpace(string(out))
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "readlines/build.sh", dir)
	cmd.Env = append(os.Environ(), "ZIG="+zig)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build.sh: %v\n%s", err, out)
	}
	for _, arch := range []string{"amd64", "arm64"} {
		have, err := os.ReadFile("readlines/bin/read-lines-" + arch)
		require.NoError(t, err)
		want, err := os.ReadFile(filepath.Join(dir, "read-lines-"+arch))
		require.NoError(t, err)
		if !bytes.Equal(have, want) {
			t.Errorf("readlines/bin/read-lines-%s is not what read-lines.c builds; run: ZIG=$(lab/zig) internal/measure/imagestore/readlines/build.sh", arch)
		}
	}
}
