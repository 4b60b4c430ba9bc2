package fleet

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/child"
)

// The bounds of a connection.
const (
	connectLimit = 20 * time.Second // to connect and log in
	askLimit     = 2 * time.Minute  // of a question that takes no data along
	// lingering is how long a connection stays when its last user is gone: where
	// we are killed it goes by itself.
	lingering = time.Minute
)

// SSH is the ssh of this system, and where its connections are shared.
type SSH struct {
	Path string // of the program
	// Dir is a folder of ours alone, for the sockets of the shared connections.
	Dir string
}

// mostOfDir is how long the path may be in which the folder of the sockets is made: the
// kernel takes 107 bytes, of which the folder and a host's number take some 20, and ssh 17
// for the name that a socket has at first.
const mostOfDir = 64

// NewSSH finds ssh and makes a private folder for its connections: below the
// user's runtime directory, since a socket's path must be short.
func NewSSH(look func(string) (string, error), runtimeDir string) (*SSH, error) {
	path, err := look("ssh")
	if err != nil {
		return nil, fmt.Errorf("there is no ssh on the PATH: %w", err)
	}
	if len(runtimeDir) > mostOfDir {
		runtimeDir = ""
	}
	dir, err := os.MkdirTemp(runtimeDir, "plim-") // 0700
	if err != nil && runtimeDir != "" {
		dir, err = os.MkdirTemp("", "plim-")
	}
	if err != nil {
		return nil, fmt.Errorf("making a folder for ssh's connections: %w", err)
	}
	return &SSH{Path: path, Dir: dir}, nil
}

// Close removes the folder. The connections were closed by their hosts.
func (s *SSH) Close() error { return safepath.RemoveAll(s.Dir) }

// Host is a host that is reached by ssh, over one connection.
type Host struct {
	Target
	ssh *SSH
	id  string // of the run there, which names its folder
	n   int
}

// Host gives a host; n tells it from the others, id is of its run.
func (s *SSH) Host(t Target, n int, id string) *Host { return &Host{Target: t, ssh: s, n: n, id: id} }

// argv is a command line of ssh. Everything that decides whom to trust and how
// to log in is left to the user's configuration.
func (h *Host) argv(more ...string) []string {
	argv := []string{h.ssh.Path,
		"-o", "BatchMode=yes", "-o", "LogLevel=ERROR", "-o", "RequestTTY=no",
		"-o", "ForwardAgent=no", "-o", "ForwardX11=no", "-o", "ClearAllForwardings=yes", "-o", "RemoteCommand=none",
		"-o", "ConnectTimeout=" + seconds(connectLimit), "-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3",
		"-o", "ControlMaster=auto", "-o", "ControlPath=" + h.socket(), "-o", "ControlPersist=" + seconds(lingering)}
	if h.User != "" {
		argv = append(argv, "-l", h.User)
	}
	if h.Port != 0 {
		argv = append(argv, "-p", strconv.Itoa(h.Port))
	}
	return append(argv, more...)
}

func seconds(d time.Duration) string { return strconv.Itoa(int(d / time.Second)) }

// socket is the path of the connection's socket. A % would be one of ssh's marks.
func (h *Host) socket() string {
	return strings.ReplaceAll(filepath.Join(h.ssh.Dir, strconv.Itoa(h.n)), "%", "%%")
}

// script makes a shell's text one command for whatever shell the user has there:
// single quotes mean the same to all of them, so the text has none, no backslash,
// no '!' and no line break.
func (h *Host) script(text string) string {
	if strings.ContainsAny(text, "'\\!\n") {
		panic("a script for another host that its shell could read in another way: " + text)
	}
	become := ""
	if h.Become {
		become = "env LC_ALL=C env sudo -n -H " // the second says in English that there is no sudo
	}
	return "exec " + become + "sh -c '" + where + text + "'"
}

// where says to a script which folder is ours. The umask is that of a private
// folder.
const where = `umask 077; LC_ALL=C; export LC_ALL; case "${XDG_CACHE_HOME:-}" in /*) base="$XDG_CACHE_HOME";; *) base="$HOME/.cache";; esac; base="$base/plimsoll/hosts"; `

// run runs a script there to its end.
func (h *Host) run(ctx context.Context, limit time.Duration, stdin io.Reader, text string) (child.Output, error) {
	return child.Run(ctx, child.Command{Argv: h.argv("--", h.Host, h.script(text)), Env: asksNobody(), Stdin: stdin, Limit: limit, Leaves: true})
}

// asksNobody is our environment, by which no ssh opens a window for a password. A jump host
// is reached by an ssh of its own, which gets none of our options.
func asksNobody() []string { return append(os.Environ(), "SSH_ASKPASS_REQUIRE=never") }

// Close closes the connection, where there is one.
func (h *Host) Close(ctx context.Context) {
	if _, err := os.Lstat(h.socket()); err == nil {
		// It may have gone by itself.
		_, _ = child.Run(ctx, child.Command{Argv: h.argv("-O", "exit", "--", h.Host), Env: asksNobody(), Limit: 10 * time.Second})
	}
}
