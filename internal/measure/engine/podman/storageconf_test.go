package podman

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/buildconfig"
	"plimsoll/internal/measure/engine/confile"
	"plimsoll/internal/record"
)

// confined is podman with a build's storage.conf of this text.
func confined(t *testing.T, text string) *program {
	t.Helper()
	path := filepath.Join(t.TempDir(), storageFile)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	b := record.Build{Program: Name, Level: "new", Path: "/b/podman",
		Files: []record.BuildFile{{Name: storageFile, Path: path, SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte(text)))}}}
	c, err := buildconfig.Of((&engine.Kit{}).With([]record.Build{b}), Name)
	require.NoError(t, err)
	return &program{given: c, store: store{driver: fuseOverlay}}
}

// A driver's options are those of its own table, and of all drivers where it has none.
func TestStoreOptions(t *testing.T) {
	p := confined(t, `[storage.options]
mountopt = "nodev"
size = "10G"
force_mask = 0o755
disable-volatile = true
[storage.options.overlay]
mountopt = "metacopy=on"
`)
	want := []string{"overlay.force_mask=755", "overlay.size=10G", "overlay.mountopt=metacopy=on"}
	if got := p.storeOptions(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	var i info
	i.Store.GraphOptions = map[string]any{"overlay.force_mask": "755", "overlay.size": "10G", "overlay.mountopt": "metacopy=on"}
	if err := p.optioned(&i); err != nil {
		t.Error(err)
	}
	i.Store.GraphOptions["overlay.mountopt"] = ""
	if err := p.optioned(&i); err == nil {
		t.Error("an option that the store does not have is not missed")
	}
	if got := (&program{}).storeOptions(); got != nil {
		t.Errorf("without a file: %q", got)
	}
}

// What keeps a store apart is refused, and nothing that begins alike.
func TestReservedStorage(t *testing.T) {
	for text, refused := range map[string]bool{
		"[storage]\ngraphroot = \"/x\"":                             true,
		"[storage]\ndriver = \"overlay\"":                           true,
		"[storage.options]\nadditionalimagestores = [\"/x\"]":       true,
		"[storage.options.overlay]\nmount_program = \"/x\"":         true,
		"[storage.options]\npull_options = {use_hard_links = \"\"}": false,
		"[storage.options.overlay]\nskip_mount_home = \"true\"":     false,
	} {
		p := confined(t, text)
		if err := p.given.Ours(storageFile, reservedStorage); (err != nil) != refused {
			t.Errorf("%q: %v", confile.Settings(p.given.File(storageFile)), err)
		}
	}
}

// The ledger has no more of a store than its name: a sweep finds by it which one it is, and
// takes no other for it.
func TestConfOf(t *testing.T) {
	for _, c := range []struct {
		name, without, between, digits string
		ok                             bool
	}{
		{"/r/podman-vfs-root", "/r/podman-vfs-root", "-", "", true},
		{"/r/podman-vfs-root-12ab34", "/r/podman-vfs-root", "-", "12ab34", true},
		{"/r/podman-vfs-root12ab34", "/r/podman-vfs-root", "-", "", false},
		{"/r/podman-vfs-root-12ab3", "/r/podman-vfs-root", "-", "", false},
		{"/r/podman-vfs-root-../../", "/r/podman-vfs-root", "-", "", false},
		{"/run/plimsoll-abcd1234-v12ab34", "/run/plimsoll-abcd1234-v", "", "12ab34", true},
		{"/run/plimsoll-abcd1234-v12AB34", "/run/plimsoll-abcd1234-v", "", "", false},
		{"/run/plimsoll-abcd1234-o", "/run/plimsoll-abcd1234-v", "", "", false},
	} {
		digits, ok := confOf(c.name, c.without, c.between)
		if ok != c.ok || ok && digits != c.digits {
			t.Errorf("%s: %q %v", c.name, digits, ok)
		}
	}
}
