package catalogue

import (
	"context"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/docker"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/measure/engine/podman"
	"plimsoll/internal/measure/imagestore"
	"plimsoll/internal/record"
)

// The figures of one pulled image are those that the engines' own commands
// print, asked by another hand than the adapter's.
func TestFiguresAgreeWithTheEngines(t *testing.T) {
	for _, e := range []engine.Engine{docker.New(), podman.New()} {
		name := e.Info().Name
		t.Run(name, func(t *testing.T) {
			program, err := exec.LookPath(name)
			if err != nil {
				t.Skip(err)
			}
			kit := enginetest.Kit(t)
			if !kit.Root {
				t.Skip("the engine's store is root's")
			}
			registry, err := imagestore.StartRegistry(t.TempDir())
			require.NoError(t, err)
			t.Cleanup(func() {
				if err := registry.Close(); err != nil {
					t.Error(err)
				}
			})
			pub, err := registry.Publish(t.Context(), kit.Images, "busybox", kit.RunID)
			if err != nil {
				t.Skip(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			env, err := e.Open(ctx, kit, engine.Spec{ID: "figures", Limits: engine.Limits{CPUs: 1, MemoryBytes: 256 << 20}})
			if err != nil {
				t.Skipf("can't be had here: %v", err)
			}
			defer func() {
				if err := env.Close(context.WithoutCancel(ctx)); err != nil {
					t.Error(err)
				}
			}()
			p, ok := env.(engine.Puller)
			if !ok {
				t.Fatal("it does not pull")
			}
			before := registry.Traffic()
			pulled, err := p.Pull(ctx, engine.PullTask{Ref: pub.Ref, Digest: pub.Digest})
			if err != nil || pulled.Failure != nil {
				t.Fatalf("Pull: %v %+v", err, pulled.Failure)
			}
			defer func() {
				if err := p.Drop(context.WithoutCancel(ctx), pub.Ref); err != nil {
					t.Error(err)
				}
			}()
			z, err := p.Sizes(ctx, pub.Ref)
			require.NoError(t, err)
			ask := func(args ...string) string {
				t.Helper()
				out, err := exec.CommandContext(ctx, program, args...).Output()
				if err != nil {
					t.Fatalf("%s %v: %v", name, args, err)
				}
				return strings.TrimSpace(string(out))
			}
			if got := ask("image", "inspect", "--format", "{{.Size}}", pub.Ref); got != strconv.FormatInt(z.Printed, 10) {
				t.Errorf("inspect says %s bytes, Sizes %d", got, z.Printed)
			}
			listed := ask("images", "--format", "{{.Size}}", pub.Ref)
			if n, ok := parseSize(listed); !ok || float64(z.Printed) < n*0.94 || float64(z.Printed) > n*1.06 {
				t.Errorf("the list says %q, Sizes %d", listed, z.Printed)
			}
			if got := ask("image", "inspect", "--format", "{{index .RepoDigests 0}}", pub.Ref); !strings.HasSuffix(got, pub.Digest) {
				t.Errorf("the digest is %s, not %s", got, pub.Digest)
			}
			// The daemon and we count the same transfer.
			took := pulled.Events[record.Ready] - pulled.Events[record.Request]
			served := registry.Traffic().Since(before)
			if took <= 0 || served.Bytes < pub.Compressed {
				t.Errorf("%d ns for %d bytes of %d", took, served.Bytes, pub.Compressed)
			}
		})
	}
}

var sizeWords = regexp.MustCompile(`^([0-9.]+) ?([kMG]?B)$`)

// parseSize reads sizes as docker images and podman images print them.
func parseSize(s string) (float64, bool) {
	m := sizeWords.FindStringSubmatch(s)
	if m == nil {
		return 0, false
	}
	v, err := strconv.ParseFloat(m[1], 64)
	return v * map[string]float64{"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}[m[2]], err == nil
}
