package build

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
)

// A directory is a set of the programs that bear their names, whatever else lies there.
func TestDirectory(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"dockerd", "containerd", "docker-proxy"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o755))
	}
	a := Asked{Program: "dockerd", Level: "old", Path: dir, Where: "the build", SHA256: strings.Repeat("0", 64)}
	if !IsDirectory(a) || IsDirectory(Asked{Path: filepath.Join(dir, "dockerd")}) || IsDirectory(Asked{Variable: "A=1"}) {
		t.Error("what is a directory is not known")
	}
	all, others, err := Directory(a, []string{"containerd", "dockerd", "runc"})
	require.NoError(t, err)
	want := []Asked{{Program: "dockerd", Level: "old", Path: filepath.Join(dir, "dockerd"), Where: "the build"},
		{Program: "containerd", Level: "old", Path: filepath.Join(dir, "containerd"), Where: "the build"}}
	if !slices.Equal(all, want) || !slices.Equal(others, []string{"docker-proxy"}) {
		t.Errorf("%+v, and not %q", all, others)
	}
	a.Program = "runc"
	if _, _, err := Directory(a, []string{"containerd", "dockerd", "runc"}); err == nil || !strings.Contains(err.Error(), "there is no runc in it") {
		t.Error(err)
	}
}

// What a directory is known by is what lies in it, in no order, and of its own level alone.
func TestDirectoryDigest(t *testing.T) {
	d := func(program, level, sum string) record.Build {
		return record.Build{Program: program, Level: level, SHA256: sum}
	}
	all := []record.Build{d("b", "old", "2"), d("a", "old", "1"), d("a", "new", "3")}
	// printf '1  a\n2  b\n' | sha256sum
	const sum = "8d711146c07b0092609ee8aa24647b11f96dab70254b0b11505acc5c8cbcd31a"
	if got := Digest(all, "old"); got != sum {
		t.Errorf("digest %s, want %s", got, sum)
	}
	a := Asked{Level: "old", Path: "/old", SHA256: sum}
	if err := Demanded(a, all); err != nil {
		t.Error(err)
	}
	all[0].SHA256 = "4"
	if err := Demanded(a, all); err == nil || !strings.Contains(err.Error(), "/old has other programs than before: the digest of b, a is") {
		t.Error(err)
	}
	a.SHA256 = ""
	if err := Demanded(a, all); err != nil {
		t.Error(err)
	}
}
