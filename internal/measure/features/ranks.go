package features

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/mpi"
)

// An image with this machine's MPI library and its C library, so that launcher
// and ranks understand each other, and the MPI program of ours.
const mpiDir = "/mpi"

// mpiImage gives the image, as the engine names it, and the command of a rank.
func (t *try) mpiImage() (name string, rank []string) {
	host := once(t, "mpi-host", func(t *try) *mpi.Host {
		h, err := mpi.Gather(t.ctx, filepath.Join(t.b.dir, "mpi"), t.b.kit.LookPath, t.b.kit.Getenv)
		t.need("taking this machine's MPI library", err)
		return h
	})
	name = once(t, "mpi-image", func(t *try) string {
		return t.b.hand.provide(t, t.sample("mpi", func(base v1.Image) (v1.Image, error) {
			files, err := mpiFiles(host)
			if err != nil {
				return nil, err
			}
			return withLayer(base, files...)
		}))
	})
	var script strings.Builder
	loader := ""
	for _, c := range host.C {
		if strings.HasPrefix(filepath.Base(c), "ld") {
			loader = mpiDir + "/lib/" + filepath.Base(c)
		}
	}
	for _, v := range host.Env(mpiDir) {
		if !strings.HasPrefix(v, "LD_") { // the image's shell has other libraries
			fmt.Fprintf(&script, "export %s; ", v)
		}
	}
	fmt.Fprintf(&script, "exec %s --library-path %s/lib %s/%s barrier --iterations 100", loader, mpiDir, mpiDir, mpi.FileName)
	return name, []string{"/bin/sh", "-c", script.String()}
}

func mpiFiles(h *mpi.Host) ([]entry, error) {
	dir := strings.TrimPrefix(mpiDir, "/") + "/"
	files := []entry{{path: dir + mpi.FileName, data: mpi.Program(), mode: 0o755}}
	add := func(to, from string) error {
		data, err := os.ReadFile(from)
		files = append(files, entry{path: dir + to, data: data, mode: 0o755})
		return err
	}
	for _, c := range h.C {
		if err := add("lib/"+filepath.Base(c), c); err != nil {
			return nil, err
		}
	}
	return files, filepath.WalkDir(h.Dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(h.Dir, path)
		if err != nil {
			return err
		}
		return add(rel, path)
	})
}

// mpirun gives the launcher, with a directory of its own for its files.
func (t *try) mpirun() (argv []string, scratch string) {
	path, err := t.b.kit.LookPath("mpirun")
	if err != nil {
		t.untried("there is no mpirun here, which would start it (apt-get install openmpi-bin)")
	}
	scratch = once(t, "mpirun", func(t *try) string {
		dir := filepath.Join("/tmp", "plimsoll-"+t.b.kit.RunID+"-"+t.b.name)
		thing := engine.Thing{Kind: engine.KindFile, Name: dir}
		t.need("noting in the ledger what is to be made", t.b.kit.Ledger.Made(thing))
		if err := os.Mkdir(dir, 0o700); err != nil {
			_ = t.b.kit.Ledger.Gone(thing) // what has this name may belong to someone else
			t.need("making the launcher's directory", err)
		}
		t.later(func(context.Context) {
			if safepath.RemoveAll(dir) == nil {
				_ = t.b.kit.Ledger.Gone(thing) // else the sweep at the end does
			}
		})
		return dir
	})
	return []string{path, "--allow-run-as-root", "--oversubscribe", "--mca", "orte_tmpdir_base", scratch}, scratch
}

// two is the launcher with a command for each of two ranks.
func two(launcher, first, second []string) []string {
	argv := append(append(append([]string{}, launcher...), "-n", "1"), first...)
	return append(append(argv, ":", "-n", "1"), second...)
}

func met(s said) bool { return s.status == 0 && strings.Contains(s.out, `"ranks":2,`) }

// exchanged starts two ranks, each in a container, as the users of
// high-performance computers do: the launcher's options, then the engine's command.
func exchanged(t *try) {
	launcher, scratch := t.mpirun()
	img, rank := t.mpiImage()
	// The launcher ends commands that leave containers.
	first, second := t.container(), t.container()
	s := t.run(two(launcher, t.b.hand.once(first, img, nil, rank...), t.b.hand.once(second, img, nil, rank...))...)
	if met(s) {
		t.yes("two containers that mpirun started exchanged messages")
	}
	if t.b.name == "podman" {
		t.exchangedWith(launcher, scratch, img, rank)
	}
	t.no("two containers that mpirun started did not find each other")
}

// exchangedWith gives Podman what its users give it for that.
func (t *try) exchangedWith(launcher []string, scratch, img string, rank []string) {
	h := t.b.hand
	run := func(name string) []string {
		t.cleanAll(h.remove(name))
		argv := h.cmd("run", "--rm", "--name", name, "--label", t.b.label(), "--network=host", "--ipc=host", "--pid=host", "--env=OMPI_*", "--env=PMIX_*", "--volume="+scratch+":"+scratch)
		return append(append(append(argv, h.limits...), img), rank...)
	}
	if met(t.run(two(launcher, run(t.b.fresh()), run(t.b.fresh()))...)) {
		t.partial("two containers that mpirun started exchanged messages with --network=host --ipc=host --pid=host, the launcher's directory and its variables (--env='OMPI_*'), and not without")
	}
}

// exchangedInside executes two ranks in a container that runs: there is no command
// that starts one and stays.
func exchangedInside(t *try) {
	launcher, _ := t.mpirun()
	img, rank := t.mpiImage()
	argv := t.b.hand.inside(t.start(img), rank...)
	s := t.run(two(launcher, argv, argv)...)
	if met(s) {
		t.yes("two ranks that mpirun executed in a container exchanged messages")
	}
	t.no("two ranks that mpirun executed in a container did not find each other")
}
