package cli

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	ref "github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/rogpeppe/go-internal/testscript"
	"google.golang.org/grpc"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plimsoll/internal/measure/probe"
)

// secondContainerd starts a containerd beside the machine's, with all that is its own in a
// directory, for as long as the script runs. Its socket is c.sock there. With --cri it serves
// the CRI, too, for pods on the host's network.
func secondContainerd(ts *testscript.TestScript, neg bool, args []string) {
	cri := len(args) == 2 && args[0] == "--cri"
	if cri {
		args = args[1:]
	}
	if neg || len(args) != 1 {
		ts.Fatalf("usage: secondctrd [--cri] DIR")
	}
	dir := ts.MkAbs(args[0])
	socket, config := filepath.Join(dir, "c.sock"), filepath.Join(dir, "config.toml")
	ts.Check(os.MkdirAll(dir, 0o755))
	text := fmt.Sprintf(`version = 2
root = %q
state = %q
disabled_plugins = ["io.containerd.nri.v1.nri"%s]
[grpc]
address = %q
[plugins."io.containerd.internal.v1.opt"]
path = %q
`, filepath.Join(dir, "root"), filepath.Join(dir, "state"), map[bool]string{false: `, "io.containerd.grpc.v1.cri", "io.containerd.cri.v1.images", "io.containerd.cri.v1.runtime"`}[cri],
		socket, filepath.Join(dir, "opt"))
	if cri {
		text += fmt.Sprintf(`[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = %q
restrict_oom_score_adj = true
disable_apparmor = true
stream_server_address = "127.0.0.1"
[plugins."io.containerd.grpc.v1.cri".containerd]
snapshotter = "native"
[plugins."io.containerd.grpc.v1.cri".cni]
conf_dir = %q
`, imageOfPods(ts), filepath.Join(dir, "no-cni"))
	}
	ts.Check(os.WriteFile(config, []byte(text), 0o600))
	cmd := exec.Command("containerd", "--config", config)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	ts.Check(cmd.Start())
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // it is ended below
		close(ended)
	}()
	ts.Defer(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // one that has ended is as good
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			_ = cmd.Process.Kill()
			<-ended
		}
	})
	answers := func() error {
		c, err := net.Dial("unix", socket)
		if err == nil {
			err = c.Close()
		}
		return err
	}
	if cri {
		pods, _ := criAt(ts, socket)
		answers = func() error {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			_, err := pods.Status(ctx, &runtimev1.StatusRequest{}, grpc.WaitForReady(true))
			return err
		}
	}
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		err := answers()
		if err == nil {
			return
		}
		select {
		case <-ended:
			ts.Fatalf("containerd has ended: %s", said.String())
		default:
		}
		if time.Since(begin) > time.Minute {
			ts.Fatalf("containerd does not answer: %v", err)
		}
	}
}

// imageOfPods serves an image of pods' own process on loopback, for as long as the script
// runs: the probe, whose init waits and reaps.
func imageOfPods(ts *testscript.TestScript) string {
	var layer bytes.Buffer
	w := tar.NewWriter(&layer)
	ts.Check(w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "init", Mode: 0o755, Size: int64(len(probe.Binary()))}))
	_, err := w.Write(probe.Binary())
	ts.Check(err)
	ts.Check(w.Close())
	img, err := mutate.AppendLayers(empty.Image, static.NewLayer(layer.Bytes(), types.DockerUncompressedLayer))
	ts.Check(err)
	config, err := img.ConfigFile()
	ts.Check(err)
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Config.Entrypoint = "linux", runtime.GOARCH, []string{"/init", "init"}
	img, err = mutate.ConfigFile(img, config)
	ts.Check(err)
	s := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	ts.Defer(s.Close)
	tag, err := ref.NewTag(strings.TrimPrefix(s.URL, "http://") + "/pause:1")
	ts.Check(err)
	ts.Check(remote.Write(tag, img))
	return tag.String()
}
