package portable

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// The engines, by their names in studies.
const (
	Docker = "docker"
	Podman = "podman"
)

// docker finds a daemon by the rules of its own client: DOCKER_HOST, DOCKER_CONTEXT,
// the context in use, the usual place
// (https://docs.docker.com/engine/manage-resources/contexts/).
// mostOfConfig bounds a configuration, a certificate or a key of an engine's client, in bytes.
const mostOfConfig = 1 << 20

func (s Surroundings) docker() (Address, error) {
	if host := s.Getenv("DOCKER_HOST"); host != "" {
		a := Address{Engine: Docker, Host: host, From: "DOCKER_HOST"}
		if strings.HasPrefix(host, "tcp://") && (s.Getenv("DOCKER_TLS_VERIFY") != "" || s.Getenv("DOCKER_TLS") != "") {
			dir := s.Getenv("DOCKER_CERT_PATH")
			if dir == "" {
				dir = s.dockerConfig()
			}
			a.TLS = tlsIn(dir)
			a.TLS.SkipVerify = s.Getenv("DOCKER_TLS_VERIFY") == ""
		}
		return a.withPort(), nil
	}
	name, from := s.Getenv("DOCKER_CONTEXT"), "DOCKER_CONTEXT"
	if name == "" {
		var config struct{ CurrentContext string }
		path := filepath.Join(s.dockerConfig(), "config.json")
		text, err := safepath.ReadRegular(path, mostOfConfig, "the configuration of an engine's client")
		if err == nil {
			err = json.Unmarshal(text, &config)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Address{}, unavailable(fmt.Errorf("reading %s: %w", path, err), "", "finding Docker's context")
		}
		name, from = config.CurrentContext, path
	}
	sockets := slices.Concat([]string{"/var/run/docker.sock"}, below(s.Home, ".docker", "run", "docker.sock"),
		below(s.Home, ".docker", "desktop", "docker.sock"), below(s.Home, ".colima", "default", "docker.sock"), below(s.configHome(), "colima", "default", "docker.sock"),
		below(s.Home, ".rd", "docker.sock"), below(s.Getenv("XDG_RUNTIME_DIR"), "docker.sock"))
	usual := s.usual(Docker, sockets, []string{"docker_engine"})
	if name == "" || name == "default" {
		return usual, nil
	}
	a, err := s.Context(name, from)
	if err == nil && a.Host == "" { // a context may leave it open
		a.Host = usual.Host
	}
	return a.withPort(), err
}

// withPort is an address of TCP with the port that Docker's client takes where none is given.
func (a Address) withPort() Address {
	u, err := url.Parse(a.Host)
	if err != nil || u.Scheme != "tcp" || u.Hostname() == "" || u.Port() != "" {
		return a
	}
	port := "2375"
	if a.TLS != nil {
		port = "2376"
	}
	u.Host = net.JoinHostPort(u.Hostname(), port)
	a.Host = u.String()
	return a
}

// dockerConfig is the folder of the client's configuration.
func (s Surroundings) dockerConfig() string {
	if dir := s.Getenv("DOCKER_CONFIG"); dir != "" {
		return dir
	}
	return filepath.Join(s.Home, ".docker")
}

// Context reads a Docker context from the client's own store: its folders are named by the
// digest of the name. from says who names it, for messages.
func (s Surroundings) Context(name, from string) (Address, error) {
	sum := sha256.Sum256([]byte(name))
	id := hex.EncodeToString(sum[:])
	path := filepath.Join(s.dockerConfig(), "contexts", "meta", id, "meta.json")
	var meta struct {
		Endpoints map[string]struct {
			Host          string
			SkipTLSVerify bool
		}
	}
	read := os.ReadFile
	if s.Read != nil {
		read = s.Read
	}
	text, err := read(path)
	if err == nil {
		err = json.Unmarshal(text, &meta)
	}
	if err != nil {
		return Address{}, unavailable(err, "docker context ls", "reading Docker's context %q, which %s names", name, from)
	}
	end, ok := meta.Endpoints["docker"]
	if !ok {
		return Address{}, unavailable(nil, "docker context inspect "+name, "Docker's context %q has no endpoint of Docker's", name)
	}
	a := Address{Engine: Docker, Host: end.Host, From: "the context " + name, Context: name}
	if strings.HasPrefix(end.Host, "tcp://") {
		t := tlsIn(filepath.Join(s.dockerConfig(), "contexts", "tls", id, "docker"))
		if t.SkipVerify = end.SkipTLSVerify; t.any() {
			a.TLS = t
		}
	}
	return a, nil
}

// tlsIn are the files that Docker's client looks for in a folder.
func tlsIn(dir string) *TLS {
	file := func(name string) string {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err != nil {
			return ""
		}
		return path
	}
	return &TLS{CA: file("ca.pem"), Cert: file("cert.pem"), Key: file("key.pem")}
}

func (t *TLS) any() bool { return t.CA+t.Cert+t.Key != "" || t.SkipVerify }

// unavailable is an error of that class.
func unavailable(err error, fix, format string, args ...any) *engine.Error {
	return &engine.Error{Class: record.Unavailable, Text: fmt.Sprintf(format, args...), Fix: fix, Err: err}
}
