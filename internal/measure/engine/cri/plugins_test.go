package cri

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"plimsoll/internal/common/require"
)

// Both servers' forms are read; what is not there is nothing, and no guess.
func TestCNIOf(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"00-note.txt":      "no configuration",
		"05-broken.conf":   "{",
		"10-pods.conflist": `{"name": "pods", "plugins": [{"type": "bridge"}, {"type": "portmap"}]}`,
		"20-other.conf":    `{"name": "other", "type": "macvlan"}`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	for _, c := range []struct {
		what string
		info map[string]string
		want []string
	}{
		{"containerd", map[string]string{"config": "{}", "cniconfig": `{"Networks": [
			{"Config": {"Name": "cni-loopback", "Plugins": [{"Network": {"type": "loopback"}}]}, "IFName": "lo"},
			{"Config": {"Name": "pods", "Plugins": [{"Network": {"type": "ptp"}}, {"Network": {"type": "portmap"}}]}, "IFName": "eth0"}]}`},
			[]string{"ptp", "portmap"}},
		{"CRI-O, the first", map[string]string{"config": `{"crio": {"NetworkDir": "` + dir + `"}}`}, []string{"bridge", "portmap"}},
		{"CRI-O, by its name", map[string]string{"config": `{"crio": {"NetworkDir": "` + dir + `", "DefaultNetwork": "other"}}`}, []string{"macvlan"}},
		{"a directory that is not there", map[string]string{"config": `{"crio": {"NetworkDir": "` + dir + `/none"}}`}, nil},
		{"nothing", nil, nil},
		{"half an answer", map[string]string{"cniconfig": `{"Networks": [`}, nil},
	} {
		if got := cniOf(c.info); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
	if got := networkBy([]string{"bridge", "portmap"}) + networkBy(nil); got != "CNI (bridge, portmap)" {
		t.Errorf("the fact is %q", got)
	}
}
