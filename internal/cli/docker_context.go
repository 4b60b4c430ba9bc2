//go:build linux

package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/build"
	"plimsoll/internal/measure/portable"
)

// dockerDaemon is the program that serves a Docker context.
const dockerDaemon = "dockerd"

// withoutContexts are bindings in which each Docker context is the socket that it names.
func (s *setting) withoutContexts(asked []build.Asked) ([]build.Asked, error) {
	out := slices.Clone(asked)
	for i := range out {
		a := &out[i]
		if a.Context == "" {
			continue
		}
		if a.Program != dockerDaemon {
			return nil, fail(Usage, "%s: a Docker context is of a %s: of a %s name the socket, unix://SOCKET", a.Where, dockerDaemon, a.Program)
		}
		socket, err := s.contextSocket(a.Context)
		if err != nil {
			return nil, fail(Usage, "%s: %w", a.Where, err)
		}
		a.Context, a.Socket = "", socket
	}
	return out, nil
}

// contextSocket is the socket of this machine that a Docker context names.
func (s *setting) contextSocket(name string) (string, error) {
	const usual = "unix:///var/run/docker.sock" // what Docker's client takes where nothing is said
	host := cmp.Or(s.world.Getenv("DOCKER_HOST"), usual)
	if name != "default" { // which is in no store
		a, err := s.dockerContext(name)
		if err != nil {
			return "", err
		}
		host = cmp.Or(a.Host, usual)
	}
	if host == "unix://" {
		host = usual
	}
	socket, ok := strings.CutPrefix(host, "unix://")
	if !ok {
		return "", fmt.Errorf("the Docker context %s leads to %q, which is not a socket on this machine: plimsoll run --portable measures it by its interface, with DOCKER_CONTEXT=%s", name, host, name)
	}
	if !filepath.IsAbs(socket) {
		return "", fmt.Errorf("the Docker context %s leads to %q: expected the whole path of a socket", name, host)
	}
	return filepath.Clean(socket), nil
}

// dockerContext reads a context from the store of the client: for root first from that of
// the user for whom it works, whose contexts they are.
func (s *setting) dockerContext(name string) (portable.Address, error) {
	around, err := s.world.around()
	if err != nil {
		return portable.Address{}, err
	}
	homes := []string{around.Home}
	if s.root {
		around.Read = s.readForCaller
		if u := s.user; u != nil && u.Home != around.Home && slices.Contains([]string{s.world.Getenv("SUDO_USER"), s.world.Getenv("PLIMSOLL_USER")}, u.Name) {
			homes = []string{u.Home, around.Home}
		}
	}
	if s.world.Getenv("DOCKER_CONFIG") != "" {
		homes = homes[:1] // of which it makes no difference
	}
	for _, home := range homes {
		around.Home = home
		a, err := around.Context(name, "--build")
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return a, fmt.Errorf("%w; its socket can be named instead, as unix://SOCKET: docker context inspect %s shows it", err, name)
		}
		if err == nil {
			return a, nil
		}
	}
	stores := cmp.Or(s.world.Getenv("DOCKER_CONFIG"), strings.Join(homes, "/.docker and ")+"/.docker")
	return portable.Address{}, fmt.Errorf("there is no Docker context %q in %s: docker context ls lists them", name, stores)
}

// readForCaller reads a file that a user has named to root, through no directory and no
// link of anybody else.
func (s *setting) readForCaller(path string) ([]byte, error) {
	dir, name, err := safepath.OpenParent(path, callerOf(s.world))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.ReadFile(name, mostOfContext, "a context of Docker")
}

// mostOfContext bounds what is read of a context's file, bytes.
const mostOfContext = 1 << 20
