package mpi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/measure/child"
)

// Host is this machine's MPI library in a directory of its own, with what it
// needs: the engine binds the directory into the container, where it takes the
// place of the image's library (the bind model). The system's own directories
// can't be bound: with them the image would get the host's C library too.
type Host struct {
	Dir string
	// Name is the library's below Dir/lib, SHA256 its digest, GLIBC this
	// machine's C library, which the image's must not be older than.
	Name, SHA256, GLIBC string
	// C are the files of that C library which the rest needs, the loader among
	// them. They are not in Dir: who makes an image out of it needs them too.
	C []string
}

// hostLimit bounds each program that is asked.
const hostLimit = time.Minute

// needed is what the program of ours says of a library.
type needed struct {
	FoundAs string   `json:"found_as"`
	SHA256  string   `json:"sha256"`
	GLIBC   string   `json:"glibc"`
	Objects []string `json:"objects"`
}

// Gather copies this machine's MPI library into a directory, which it makes. The
// loader of this machine, with the user's own search path, says which one it is.
func Gather(ctx context.Context, dir string, look func(string) (string, error), getenv func(string) string) (*Host, error) {
	if err := os.Mkdir(dir, 0o755); err != nil { //nolint:gosec // ranks may be an ordinary user's
		return nil, err
	}
	if err := Put(dir); err != nil {
		return nil, err
	}
	program := filepath.Join(dir, FileName)
	env := []string{"PATH=/usr/bin:/bin", "HOME=/"}
	if path := getenv("LD_LIBRARY_PATH"); path != "" {
		env = append(env, "LD_LIBRARY_PATH="+path)
	}
	from := map[string]string{} // directories of plug-ins, by what they are called in dir
	openMPI(ctx, look, env, from)
	var n needed
	for range 4 { // plug-ins bring libraries, which have plug-ins
		argv := []string{program, "needs"}
		for _, name := range pluginDirs {
			if from[name] != "" && name != help {
				argv = append(argv, from[name])
			}
		}
		out, err := child.Run(ctx, child.Command{Argv: argv, Env: env, Limit: hostLimit})
		if err != nil {
			return nil, fmt.Errorf("asking for this machine's MPI library: %w: %.300s", err, out.Stderr)
		}
		n = needed{}
		if err := json.Unmarshal(out.Stdout, &n); err != nil {
			return nil, fmt.Errorf("what the MPI program said of this machine's library is no JSON: %w", err)
		}
		if !beside(n.Objects, from) {
			break
		}
	}
	h := &Host{Dir: dir, Name: filepath.Base(n.FoundAs), SHA256: n.SHA256, GLIBC: n.GLIBC}
	for _, o := range n.Objects {
		if hasPrefix(o, ofGLIBC) {
			h.C = append(h.C, o)
		}
	}
	return h, errors.Join(os.Remove(program), copyAll(dir, n.Objects, from), h.check())
}

// The directories of plug-ins, as they are called in ours.
const (
	openmpi, pmix, ucx, fabric = "openmpi", "pmix", "ucx", "libfabric"
	help                       = "help" // Open MPI's messages
)

var pluginDirs = []string{openmpi, pmix, ucx, fabric, help}

// openMPI asks Open MPI where its plug-ins and its messages are.
func openMPI(ctx context.Context, look func(string) (string, error), env []string, from map[string]string) {
	info, err := look("ompi_info")
	if err != nil {
		return // MPICH has no plug-ins
	}
	out, err := child.Run(ctx, child.Command{Argv: []string{info, "--parsable", "--path", "pkglibdir", "--path", "pkgdatadir"}, Env: env, Limit: hostLimit})
	if err != nil {
		return // a library that has them says then what it misses
	}
	for line := range strings.Lines(string(out.Stdout)) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "path:pkglibdir:"); ok {
			from[openmpi] = path
		} else if path, ok := strings.CutPrefix(strings.TrimSpace(line), "path:pkgdatadir:"); ok {
			from[help] = path
		}
	}
}

// beside finds plug-ins that lie beside a library that was loaded, where these
// libraries look for them. It says whether it has found any more.
func beside(objects []string, from map[string]string) (more bool) {
	for _, o := range objects {
		for _, x := range []struct{ library, sub, name string }{
			{"libpmix.so", "pmix", pmix}, {"libucs.so", "ucx", ucx}, {"libfabric.so", "libfabric", fabric},
		} {
			if !strings.HasPrefix(filepath.Base(o), x.library) || from[x.name] != "" {
				continue
			}
			real, err := filepath.EvalSymlinks(o)
			if err != nil {
				continue
			}
			path := filepath.Join(filepath.Dir(real), x.sub)
			if fi, err := os.Stat(path); err == nil && fi.IsDir() {
				from[x.name], more = path, true
			}
		}
	}
	return more
}

// ofGLIBC are the C library's own: those of the image stay, since its loader goes
// with no others.
var ofGLIBC = []string{"ld-linux", "ld64.", "libc.so.", "libm.so.", "libmvec.so.", "libpthread.so.", "libdl.so.", "librt.so.", "libresolv.so.",
	"libutil.so.", "libanl.so.", "libnsl.so.", "libnss_", "libBrokenLocale.so.", "libthread_db.so."}

func hasPrefix(path string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(filepath.Base(path), p) })
}

// copyAll copies libraries to dir/lib by the names by which they are looked for,
// and plug-ins to directories of their own.
func copyAll(dir string, objects []string, from map[string]string) error {
	lib := filepath.Join(dir, "lib")
	if err := os.Mkdir(lib, 0o755); err != nil { //nolint:gosec // as dir
		return err
	}
	for _, o := range objects {
		if hasPrefix(o, ofGLIBC) || slices.ContainsFunc(pluginDirs, func(n string) bool { return from[n] != "" && filepath.Dir(o) == from[n] }) {
			continue
		}
		if err := copyOne(filepath.Join(lib, filepath.Base(o)), o); err != nil {
			return err
		}
	}
	for name, path := range from {
		entries, err := os.ReadDir(path)
		if err == nil {
			err = os.Mkdir(filepath.Join(dir, name), 0o755) //nolint:gosec // as dir
		}
		if err != nil {
			return fmt.Errorf("looking at %s: %w", path, err)
		}
		for _, e := range entries {
			file := filepath.Join(path, e.Name())
			if fi, err := os.Stat(file); err != nil || !fi.Mode().IsRegular() || strings.HasSuffix(file, ".la") || strings.HasSuffix(file, ".a") {
				continue
			}
			if err := copyOne(filepath.Join(dir, name, e.Name()), file); err != nil {
				return err
			}
		}
	}
	return nil
}

func copyOne(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o755) //nolint:gosec // a library
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// check looks whether the copy is what was loaded.
func (h *Host) check() error {
	f, err := os.Open(filepath.Join(h.Dir, "lib", h.Name))
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != h.SHA256 {
		return fmt.Errorf("this machine's MPI library has changed while it was copied: %s, and %s before", got, h.SHA256)
	}
	return nil
}

// Env are the variables that ranks need where the directory is bound to target.
// They are the ranks' alone: the launcher has its libraries at their own places.
func (h *Host) Env(target string) []string {
	env := []string{"LD_LIBRARY_PATH=" + target + "/lib", "PLIMSOLL_MPI_LIBRARY=" + target + "/lib/" + h.Name}
	for _, x := range []struct{ name, variable string }{
		{openmpi, "OPAL_PKGLIBDIR"}, {help, "OPAL_PKGDATADIR"}, {pmix, "PMIX_PKGLIBDIR"}, {ucx, "UCX_MODULE_DIR"}, {fabric, "FI_PROVIDER_PATH"},
	} {
		if fi, err := os.Stat(filepath.Join(h.Dir, x.name)); err == nil && fi.IsDir() {
			env = append(env, x.variable+"="+target+"/"+x.name)
		}
	}
	return env
}

// stack are the libraries that make messages go, which must not be mixed.
var stack = []string{"libmpi", "libopen-", "liboshmem", "libpmix", "mca_", "libmca_", "libuc", "libfabric", "libprrte"}

// Loaded says what is wrong with what the ranks have loaded, where the library
// was to be this one, bound to target; "" is nothing.
func (h *Host) Loaded(target string, s Seen) string {
	if len(s.Files) == 0 {
		return "the ranks do not say which MPI library they have loaded"
	}
	for _, f := range s.Files {
		if !strings.HasPrefix(f.Path, target+"/lib/") || f.SHA256 != h.SHA256 {
			return fmt.Sprintf("a rank has loaded %s (SHA-256 %.12s…), and the host's library is %s/lib/%s (%.12s…)", f.Path, f.SHA256, target, h.Name, h.SHA256)
		}
	}
	for _, o := range s.Elsewhere {
		if hasPrefix(o, stack) {
			return fmt.Sprintf("the host's MPI library was loaded, and with it %s, which is the image's", o)
		}
	}
	return ""
}

// notLoaded is what the program says where the loader refuses a library, and
// wantsGLIBC what the loader says then of the C library.
var (
	notLoaded  = regexp.MustCompile(`plimsoll-mpi: no MPI library was found where it was said to be \((.*)\)`)
	wantsGLIBC = regexp.MustCompile("version `(GLIBC_[0-9.]+)' not found")
)

// Refused says why a rank that printed this could not load the library; "" where
// it could. The host's library needs the host's C library, or a newer one.
func (h *Host) Refused(text []byte) string {
	m := notLoaded.FindSubmatch(text)
	if m == nil {
		return ""
	}
	why := string(m[1])
	if v := wantsGLIBC.FindStringSubmatch(why); v != nil {
		return fmt.Sprintf("the host's MPI library needs %s, and the image's C library is older (the host's is %s): %s", v[1], h.GLIBC, why)
	}
	return "the host's MPI library can't be loaded in this image: " + why
}
