package docker

import (
	"context"
	"testing"

	"github.com/moby/moby/client"

	"plimsoll/internal/engine"
	"plimsoll/internal/engine/enginetest"
)

// TestBalena runs the adapter for balenaEngine against Docker's API on another
// socket, with docker under the name of balenaEngine's client: what it does
// with the real one is not known by this.
func TestBalena(t *testing.T) {
	if testing.Short() {
		t.Skip("a private daemon takes seconds to start; left out with -short")
	}
	kit := enginetest.Kit(t)
	host := New()
	d, err := host.user(kit)
	if err != nil {
		t.Skip(err)
	}
	defer d.Close()
	answer, err := d.Info(t.Context(), client.InfoOptions{})
	if err != nil {
		t.Skip(err)
	}
	if no := host.privately(kit, &answer.Info, engine.Storage, "overlay2", unavailable("", "")); no != nil {
		t.Skip(no)
	}
	own, err := host.startOwn(t.Context(), kit, &answer.Info, wanted{storage: "overlay2", cgroups: answer.Info.CgroupDriver})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := own.end(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	other := enginetest.Kit(t)
	look, getenv := other.LookPath, other.Getenv
	other.LookPath = func(name string) (string, error) {
		if name == "balena-engine" {
			return look("docker")
		}
		return look(name)
	}
	other.Getenv = func(name string) string {
		if name == "BALENA_HOST" {
			return own.host()
		}
		return getenv(name)
	}
	if e := Balena(); !e.Info().Unverified {
		t.Error("it is said to be verified")
	}
	for _, by := range []string{byAPI, byCLI} {
		t.Run(by, func(t *testing.T) {
			facts := oneLife(t, Balena(), other, map[string]string{engine.Client: by, engine.Network: "none"})
			if facts["host"] != own.host() || facts["client"] != by || facts["daemon"] != "user's" {
				t.Errorf("facts %v", facts)
			}
		})
	}
	if det := Balena().Detect(t.Context(), kit); det.Usable && det.Where == "/var/run/docker.sock" {
		t.Error("the user's Docker is taken for balenaEngine")
	}
}
