//go:build linux

package imagestore

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/image"
)

// Every format is unpacked again by another hand than the one that packed it,
// and must hold the same tree.
func TestSameTreeInEveryFormat(t *testing.T) {
	if testing.Short() {
		t.Skip("makes every format of an image: left out with -short")
	}
	static(t)
	s := storeIn(t, storeDir(t), Options{})
	for _, d := range always() {
		want := mustGet(t, s, d.Name)
		for f, unpack := range map[image.Format]func(t *testing.T, p, out string) (skip func(string) bool){
			image.OCILayout: func(t *testing.T, p, out string) func(string) bool {
				img, err := OnlyImage(p)
				require.NoError(t, err)
				if h, err := img.Digest(); err != nil || h.String() != want.Digest {
					t.Errorf("the layout holds %v (%v), Get says %s", h, err, want.Digest)
				}
				unpackImage(t, img, out)
				return nil
			},
			image.DockerArchive: func(t *testing.T, p, out string) func(string) bool {
				img, err := tarball.ImageFromPath(p, nil)
				require.NoError(t, err)
				m, err := tarball.LoadManifest(func() (io.ReadCloser, error) { return os.Open(p) })
				if err != nil || len(m) != 1 || len(m[0].RepoTags) != 1 || m[0].RepoTags[0] != s.Tag(d.Name, "") {
					t.Errorf("manifest %+v (%v)", m, err)
				}
				unpackImage(t, img, out)
				return nil
			},
			image.Directory: func(t *testing.T, p, out string) func(string) bool {
				require.NoError(t, os.Symlink(p, out))
				return nil
			},
			image.SquashFS: func(t *testing.T, p, out string) func(string) bool {
				unsquash(t, p, 0, out)
				return nil
			},
			image.SIF: func(t *testing.T, p, out string) func(string) bool {
				unsquash(t, p, squashOffset(t, p), out)
				return addedBySIF
			},
		} {
			t.Run(d.Name+" "+string(f), func(t *testing.T) {
				need := map[image.Format][]string{image.SquashFS: {"mksquashfs", "unsquashfs"}, image.SIF: {"apptainer", "unsquashfs"}}
				for _, tool := range need[f] {
					if _, err := exec.LookPath(tool); err != nil {
						t.Skip("needs ", tool, ": ", err)
					}
				}
				out := filepath.Join(t.TempDir(), "out")
				skip := unpack(t, mustPath(t, s, d.Name, f), out)
				real, err := filepath.EvalSymlinks(out)
				require.NoError(t, err)
				if got, err := treeDigest(real, skip); err != nil || got != want.Tree {
					t.Errorf("tree %s (%v), want %s", got, err, want.Tree)
				}
			})
		}
	}
}

func unpackImage(t *testing.T, img v1.Image, out string) {
	t.Helper()
	if err := validate.Image(img); err != nil {
		t.Error(err)
	}
	require.NoError(t, os.Mkdir(out, 0o755))
	require.NoError(t, os.Chmod(out, 0o755))
	r := mutate.Extract(img)
	defer r.Close()
	for tr := tar.NewReader(r); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err)
		if h.Uid != 0 || h.Gid != 0 || !h.ModTime.Equal(epoch) {
			t.Errorf("%s: owner %d:%d, time %v", h.Name, h.Uid, h.Gid, h.ModTime)
		}
		file := filepath.Join(out, h.Name)
		switch h.Typeflag {
		case tar.TypeDir:
			err = os.Mkdir(file, 0o755)
		case tar.TypeSymlink:
			err = os.Symlink(h.Linkname, file)
		case tar.TypeReg:
			var data []byte
			if data, err = io.ReadAll(tr); err == nil {
				err = os.WriteFile(file, data, 0o644)
			}
		}
		if err == nil && h.Typeflag != tar.TypeSymlink {
			err = os.Chmod(file, goMode(uint32(h.Mode)))
		}
		require.NoError(t, err)
	}
}

func unsquash(t *testing.T, file string, offset int, out string) {
	t.Helper()
	msg, err := exec.CommandContext(t.Context(), "unsquashfs", "-q", "-n", "-o", strconv.Itoa(offset), "-d", out, file).CombinedOutput()
	if err != nil {
		t.Fatalf("unsquashfs: %v: %s", err, msg)
	}
}

// squashOffset finds the SquashFS partition of a SIF: its superblock has a
// magic number and, at byte 28, the format's version 4.0.
func squashOffset(t *testing.T, file string) int {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	for from := 0; ; {
		i := bytes.Index(data[from:], []byte("hsqs"))
		if i < 0 || from+i+32 > len(data) {
			t.Fatal("no SquashFS in it")
		}
		if binary.LittleEndian.Uint16(data[from+i+28:]) == 4 {
			return from + i
		}
		from += i + 4
	}
}

// addedBySIF says whether a path in a SIF's file system was put there by its
// builder: the run scripts and environment that Apptainer adds to any image.
// It is the argument skip of treeDigest for a SIF.
func addedBySIF(path string) bool {
	switch path {
	case "/.singularity.d", "/.exec", "/.run", "/.shell", "/.test", "/environment", "/singularity":
		return true
	}
	return strings.HasPrefix(path, "/.singularity.d/")
}

func TestParseApplets(t *testing.T) {
	got, err := parseApplets("usr/bin/[\nbin/busybox\nbin/sh\nbin/sh\n\nsbin/init\n")
	if err != nil || len(got) != 3 || got[0] != "bin/sh" || got[1] != "sbin/init" || got[2] != "usr/bin/[" {
		t.Errorf("%q %v", got, err)
	}
	for _, bad := range []string{"", "/bin/sh\n", "bin/../../etc/passwd\n", "usage: busybox\n"} {
		if got, err := parseApplets(bad); err == nil {
			t.Errorf("%q gave %q", bad, got)
		}
	}
}

func TestDynamicProgramIsRefused(t *testing.T) {
	if err := mustBeStatic([]byte("#!/bin/sh\n")); err == nil {
		t.Error("a script passed for a static program")
	}
	if err := mustBeStatic(static(t)); err != nil {
		t.Error(err)
	}
	f, err := elf.Open("/bin/sh")
	if err != nil {
		t.Skip("no ELF /bin/sh here: ", err)
	}
	defer func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	if f.Section(".interp") == nil {
		t.Skip("/bin/sh is static here")
	}
	data, err := os.ReadFile("/bin/sh")
	require.NoError(t, err)
	if err := mustBeStatic(data); err == nil {
		t.Error("/bin/sh, which needs a dynamic linker, passed for a static program")
	}
}
