package portable

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
)

// podman finds Podman's service, which has Docker's API beside its own: by
// CONTAINER_HOST, by the connection in use (that of a Podman machine, or of
// CONTAINER_CONNECTION), or at the usual place.
func (s Surroundings) podman() (Address, error) {
	if host := s.Getenv("CONTAINER_HOST"); host != "" {
		return Address{Engine: Podman, Host: host, From: "CONTAINER_HOST", Identity: s.Getenv("CONTAINER_SSHKEY")}, nil
	}
	path := filepath.Join(s.configHome(), "containers", "podman-connections.json")
	var file struct {
		Connection struct {
			Default     string
			Connections map[string]struct {
				URI, Identity string
			}
		}
	}
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &file)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Address{}, unavailable(fmt.Errorf("reading %s: %w", path, err), "podman system connection list", "finding Podman's connection")
	}
	name := s.Getenv("CONTAINER_CONNECTION")
	if name == "" {
		name = file.Connection.Default
	}
	machine := filepath.Join(s.Home, ".local", "share", "containers", "podman", "machine")
	sockets := slices.Concat(below(s.Getenv("XDG_RUNTIME_DIR"), "podman", "podman.sock"), []string{filepath.Join(machine, "podman.sock"), filepath.Join(machine, "qemu", "podman.sock")})
	if root := "/run/podman/podman.sock"; os.Geteuid() == 0 {
		sockets = slices.Insert(sockets, 0, root)
	} else {
		sockets = append(sockets, root)
	}
	if name == "" {
		return s.usual(Podman, sockets, []string{"podman-machine-default"}), nil
	}
	c, ok := file.Connection.Connections[name]
	if !ok {
		return Address{}, unavailable(nil, "podman system connection list", "%s has no connection %q", path, name)
	}
	u, err := url.Parse(c.URI)
	if err != nil {
		return Address{}, unavailable(err, "podman system connection list", "reading the address of the connection %q in %s", name, path)
	}
	return Address{Engine: Podman, Host: u.String(), From: "the connection " + name, Identity: c.Identity}, nil
}

// configHome is where Podman's client has its configuration.
func (s Surroundings) configHome() string {
	if dir := s.Getenv("XDG_CONFIG_HOME"); dir != "" {
		return dir
	}
	return filepath.Join(s.Home, ".config")
}
