//go:build linux

package host

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"
)

// TestImageTurn: of two that load into one engine's store one waits for the other,
// until it lets go or the context ends; another engine's store is another matter, and
// without a place for a lock nobody waits.
func TestImageTurn(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	getenv := func(name string) string { return map[string]string{"XDG_RUNTIME_DIR": dir}[name] }
	turn := func(ctx context.Context, engine string) (func(), error) { return imageTurn(ctx, engine, false, getenv) }
	leave, err := turn(t.Context(), "docker")
	if err != nil {
		t.Fatal(err)
	}
	other, err := turn(t.Context(), "podman")
	if err != nil {
		t.Fatalf("another engine: %v", err)
	}
	other()
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := turn(short, "docker"); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("while another has it: %v", err)
	}
	got := make(chan error, 1)
	go func() {
		again, err := turn(t.Context(), "docker")
		if err == nil {
			again()
		}
		got <- err
	}()
	leave()
	if err := <-got; err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := imageTurn(t.Context(), "docker", false, func(string) string { return "" }); err != nil {
			t.Fatalf("without a directory: %v", err)
		}
	}
}
