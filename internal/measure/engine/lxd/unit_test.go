package lxd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"os"
	"path/filepath"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
)

func TestOperationID(t *testing.T) {
	for in, want := range map[string]string{
		"/1.0/operations/abc-1": "abc-1", "/1.0/operations/abc-2?project=p": "abc-2",
	} {
		if got := operationID(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestDriversOfTheServer(t *testing.T) {
	var s server
	err := json.Unmarshal([]byte(`{"environment": {"driver": "qemu | lxc", "driver_version": "7.2 | 5.0.3",
		"storage_supported_drivers": [{"Name": "btrfs", "Version": "6.2"}]}}`), &s)
	if err != nil || s.lxcVersion() != "5.0.3" {
		t.Errorf("liblxc %q, %v", s.lxcVersion(), err)
	}
	if v, ok := s.storage("btrfs"); !ok || v != "6.2" {
		t.Errorf("btrfs %q %v", v, ok)
	}
	if _, ok := s.storage("zfs"); ok {
		t.Error("zfs is there, though the server does not name it")
	}
}

// A profile has what was asked for, and of the user's own only the network.
func TestProfile(t *testing.T) {
	user := profile{
		Config: map[string]string{"security.privileged": "true"},
		Devices: map[string]device{"root": {"type": "disk", "path": "/", "pool": "theirs"}, "gpu": {"type": "gpu"},
			"eth0": {"type": "nic", "nictype": "bridged", "parent": "br0"}},
	}
	spec := engine.Spec{ID: "LXD/dir api", Limits: engine.Limits{CPUs: 1.5, MemoryBytes: 1 << 20}}
	p, networks := profileFor(spec, "abcd", "ours", user)
	got := fmt.Sprint(p["name"], p["config"], p["devices"], networks)
	want := "lxd-dir-api" +
		"map[limits.cpu.allowance:150ms/100ms limits.memory:1048576 raw.lxc:lxc.init.cmd = /plimsoll-probe init user.io.plimsoll.run:abcd] " +
		"map[eth0:map[nictype:bridged parent:br0 type:nic] root:map[path:/ pool:ours type:disk]] " + "[bridged br0]"
	if got != want {
		t.Errorf("profile\n%s, want\n%s", got, want)
	}
	spec.Levels = map[string]string{engine.Network: "none"}
	if _, networks := profileFor(spec, "abcd", "ours", user); len(networks) != 0 {
		t.Errorf("without a network: %v", networks)
	}
}

// The same content gives the same bytes: a fingerprint is made of them.
func TestImagesAreReproducible(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "f"), []byte("x"), 0o644))
	require.NoError(t, os.Symlink("f", filepath.Join(dir, "l")))
	meta := metadata("payload", "x86_64")
	for name, write := range map[string]func(io.Writer) error{
		"unified": func(w io.Writer) error { return writeUnified(w, meta, dir) },
		"split": func(w io.Writer) error {
			form := multipart.NewWriter(w)
			return writeSplit(form, meta, filepath.Join(dir, "f"))
		},
	} {
		var a, b bytes.Buffer
		require.NoError(t, write(&a))
		require.NoError(t, write(&b))
		if name == "unified" && !bytes.Equal(a.Bytes(), b.Bytes()) || a.Len() == 0 || a.Len() != b.Len() {
			t.Errorf("%s: %d and %d bytes, which differ", name, a.Len(), b.Len())
		}
	}
}
