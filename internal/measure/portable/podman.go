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
	"strings"

	"plimsoll/internal/common/safepath"
)

// podman finds Podman's service, which has Docker's API beside its own: by
// CONTAINER_HOST, by the connection in use (that of a Podman machine, or of
// CONTAINER_CONNECTION), or at the usual place. On Linux, where the command goes to no
// connection that it is not told, neither do we.
func (s Surroundings) podman() (Address, error) {
	if host := s.Getenv("CONTAINER_HOST"); host != "" {
		return Address{Engine: Podman, Host: host, From: "CONTAINER_HOST", Identity: s.Getenv("CONTAINER_SSHKEY"), TLS: s.podmanTLS(host)}, nil
	}
	path := s.connections()
	var file struct {
		Connection struct {
			Default     string
			Connections map[string]struct {
				URI, Identity string
			}
		}
	}
	text, err := safepath.ReadRegular(path, mostOfConfig, "the configuration of an engine's client")
	if err == nil {
		err = json.Unmarshal(text, &file)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Address{}, unavailable(fmt.Errorf("reading %s: %w", path, err), "podman system connection list", "finding Podman's connection")
	}
	name := s.Getenv("CONTAINER_CONNECTION")
	if name == "" && s.System != "linux" {
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

// podmanTLS are the files of a connection by TCP, as Podman's client takes them since 5.7; nil
// is one without TLS.
func (s Surroundings) podmanTLS(host string) *TLS {
	t := &TLS{CA: s.Getenv("CONTAINER_TLS_CA"), Cert: s.Getenv("CONTAINER_TLS_CERT"), Key: s.Getenv("CONTAINER_TLS_KEY")}
	if !strings.HasPrefix(host, "tcp://") || !t.any() {
		return nil
	}
	return t
}

// connections is the file of Podman's connections: where the user says, or beside the
// client's configuration.
func (s Surroundings) connections() string {
	if path := s.Getenv("PODMAN_CONNECTIONS_CONF"); path != "" {
		return path
	}
	const name = "podman-connections.json"
	if data := s.Getenv("APPDATA"); s.System == "windows" && data != "" {
		path := filepath.Join(data, "containers", name)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return filepath.Join(s.configHome(), "containers", name)
}

// configHome is where clients have their configuration.
func (s Surroundings) configHome() string {
	if dir := s.Getenv("XDG_CONFIG_HOME"); dir != "" {
		return dir
	}
	return filepath.Join(s.Home, ".config")
}
