package features

import (
	"slices"
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/kittest"
)

// What is made by hand in a daemon of the user's is in the ledger before, as the
// engine's adapter would have it; what lies in a store of the run's own is not.
func TestEntered(t *testing.T) {
	for _, c := range []struct {
		name, where string
		want        []engine.Thing
	}{
		{"docker", "/run/d.sock", []engine.Thing{
			{Kind: engine.KindContainer, Name: "plimsoll-abcd1234-docker-1", Engine: "docker", At: "unix:///run/d.sock"},
			{Kind: engine.KindImage, Name: "localhost/plimsoll/docker-x:abcd1234", Engine: "docker", At: "unix:///run/d.sock"}}},
		{"lxd", "/run/l.sock", []engine.Thing{
			{Kind: engine.KindContainer, Name: "plimsoll-abcd1234-lxd-1", Engine: "lxd", At: "/run/l.sock"},
			{Kind: engine.KindImage, Name: "localhost/plimsoll/lxd-x:abcd1234", Engine: "lxd", At: "/run/l.sock"}}},
		{"containerd", "/run/c.sock", []engine.Thing{
			{Kind: engine.KindContainer, Name: "plimsoll-abcd1234-containerd-1", Engine: "containerd", At: "/run/c.sock"}}},
		{"podman", "/usr/bin/podman", nil},
	} {
		ledger := &kittest.Ledger{}
		b := &bench{kit: &engine.Kit{RunID: "abcd1234", Ledger: ledger}, name: c.name, where: c.where}
		b.fresh()
		b.tag("x")
		b.tag("x")
		b.unique()
		if got := ledger.Left(); !slices.Equal(got, c.want) {
			t.Errorf("%s: in the ledger are %v, want %v", c.name, got, c.want)
		}
	}
}
