package kata

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

func put(t *testing.T, root, path, text string) {
	t.Helper()
	path = filepath.Join(root, path)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o755))
}

// A machine that gets, one after the other, what Kata needs.
func TestMissing(t *testing.T) {
	m := Machine{Root: t.TempDir()}
	none := func(string) (string, error) { return "", errors.New("not found") }
	want := func(name, part string) {
		t.Helper()
		why, fix := m.Missing(name, none)
		if (part == "") != (why == "") || !strings.Contains(why, part) {
			t.Errorf("%s: %q (%s), want something with %q", name, why, fix, part)
		}
	}
	want("kata", "not installed")
	put(t, m.Root, "/opt/kata/bin/"+Shim, "")
	want("kata", "/dev/kvm")
	put(t, m.Root, "/dev/kvm", "")
	want("kata", "")
	want("kata-fc", "no configuration for firecracker")
	put(t, m.Root, "/opt/kata/share/defaults/kata-containers/configuration-fc.toml", "[hypervisor.qemu]\n")
	want("kata-fc", `chooses "qemu"`)
	put(t, m.Root, "/etc/kata-containers/configuration-fc.toml", "# the first that exists is in force\n[hypervisor.firecracker] # v1\npath = \"x\"\n")
	want("kata-fc", "")
	if f := m.Facts("kata-fc"); f["hypervisor"] != "firecracker" || f["hypervisor-config"] != "/etc/kata-containers/configuration-fc.toml" {
		t.Errorf("facts: %v", f)
	}
	if f := m.Facts("kata"); f != nil {
		t.Errorf("without a configuration.toml: %v", f)
	}
}

func TestHypervisor(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "#[hypervisor.qemu]\n[hypervisor.clh]\n": "clh", "[agent.kata]\n [hypervisor.qemu]\n": "qemu",
	} {
		if got := Hypervisor(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestIs(t *testing.T) {
	for runtime, want := range map[string]string{
		"io.containerd.kata.v2": "kata", "io.containerd.kata-clh.v2": "kata-clh", "kata-fc": "kata-fc",
		"runc": "", "io.containerd.runc.v2": "", "katana": "",
	} {
		if name, ok := Is(runtime); ok != (want != "") || ok && name != want {
			t.Errorf("%s: %q, %v, want %q", runtime, name, ok, want)
		}
	}
}
