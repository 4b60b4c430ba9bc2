package portable

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// Surroundings are what comes from outside.
type Surroundings struct {
	Getenv   func(string) string
	LookPath func(string) (string, error)
	Home     string // the user's home directory
	System   string // runtime.GOOS
	// Read reads a file of a Docker context; nil: as any other.
	Read func(path string) ([]byte, error)
}

// Address is where an engine's API is, and by whose word.
type Address struct {
	Engine string // docker or podman
	// Host is unix:///PATH, npipe:////./pipe/NAME, tcp://HOST:PORT or
	// ssh://USER@HOST[:PORT][/PATH].
	Host string
	// From says how it was found: "DOCKER_HOST", "the context lab", usualPlace.
	From string
	// Context is the Docker context's name, which its command line is told too.
	Context string
	TLS     *TLS
	// Identity is the key of an ssh connection, where the engine names one.
	Identity string
	// Server is who answered there when the run began, in a ledger and of those that tell:
	// another one may answer there later, by a tunnel or after a change of configuration.
	Server string `json:",omitempty"`
}

// TLS are the files of a connection by TCP with TLS; an empty path is none.
type TLS struct {
	CA, Cert, Key string
	SkipVerify    bool
}

// Kind says in words by what kind of interface the engine is reached.
func (a Address) Kind() string {
	scheme, _, _ := strings.Cut(a.Host, "://")
	switch {
	case scheme == "unix":
		return bySocket
	case scheme == "npipe":
		return byPipe
	case scheme == "ssh":
		return bySSH
	case a.TLS != nil && a.TLS.SkipVerify:
		return byTLSUnseen
	case a.TLS != nil:
		return byTLS
	}
	return byPlain
}

// usualPlace is where an engine is found that nobody names.
const usualPlace = "the usual place"

// plainPath is a socket's path that means the same to every shell, on the other side of ssh.
var plainPath = regexp.MustCompile(`^[A-Za-z0-9/._@:+=,-]*$`)

// check refuses what is no address.
func (a Address) check() error {
	u, err := url.Parse(a.Host)
	if err == nil {
		switch u.Scheme {
		case "unix", "npipe":
			if u.Path != "" {
				return nil
			}
		case "tcp":
			if u.Host != "" {
				return nil
			}
		case "ssh":
			if u.Host != "" && plainPath.MatchString(u.Path) {
				return nil
			}
		}
	}
	return &engine.Error{Class: record.Unavailable,
		Text: fmt.Sprintf("%s gives %q for %s: expected unix:///PATH, npipe:////./pipe/NAME, tcp://HOST:PORT or ssh://USER@HOST", a.From, a.Host, a.Engine)}
}

// Find gives the address of an engine, as its own client would find it. An error is of
// class record.Unavailable.
func (s Surroundings) Find(name string) (Address, error) {
	find := s.docker
	if name == Podman {
		find = s.podman
	}
	a, err := find()
	if err != nil {
		return a, err
	}
	return a, a.check()
}

// usual is the first of these sockets that is there; else the first, whose absence
// then is the reason.
func (s Surroundings) usual(name string, sockets, pipes []string) Address {
	if s.System == "windows" {
		return Address{Engine: name, Host: "npipe:////./pipe/" + pipes[0], From: usualPlace}
	}
	at := sockets[0]
	for _, path := range sockets {
		if _, err := os.Stat(path); err == nil {
			at = path
			break
		}
	}
	return Address{Engine: name, Host: "unix://" + at, From: usualPlace}
}

// below joins a path below a directory; nothing where there is no such directory.
func below(dir string, parts ...string) []string {
	if dir == "" {
		return nil
	}
	return []string{filepath.Join(append([]string{dir}, parts...)...)}
}
