package portable

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"plimsoll/internal/measure/sshdiag"
)

// sshArgs are the arguments of the system's ssh, which lends its configuration, its
// agent and its known hosts. It asks nobody: a host key that is unknown is an error. It may
// go through a connection of the user's that is open, and never becomes one that others go
// through: they would end with ours.
func (a Address) sshArgs() ([]string, error) {
	u, err := url.Parse(a.Host)
	if err != nil {
		return nil, err
	}
	args := []string{"-o", "BatchMode=yes", "-o", "LogLevel=ERROR", "-o", "ConnectTimeout=20", "-o", "ControlMaster=no", "-o", "RemoteCommand=none",
		"-o", "ClearAllForwardings=yes", "-o", "ForwardAgent=no", "-o", "ForwardX11=no", "-T"}
	if a.Identity != "" {
		args = append(args, "-i", a.Identity)
	}
	if u.User != nil {
		args = append(args, "-l", u.User.Username())
	}
	if p := u.Port(); p != "" {
		args = append(args, "-p", p)
	}
	args = append(args, "--", u.Hostname(), a.Engine)
	if u.Path != "" && u.Path != "/" {
		flag := "--host"
		if a.Engine == Podman {
			flag = "--url"
		}
		args = append(args, flag, "unix://"+u.Path)
	}
	return append(args, "system", "dial-stdio"), nil
}

// bySSH is one connection to the daemon: a process of the system's ssh, which runs
// the engine's own bridge on the other side.
func (a Address) bySSH(ctx context.Context) (net.Conn, error) {
	args, err := a.sshArgs()
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	// Not of the context, which is of one request: the connection lives on.
	cmd := exec.Command("ssh", args...)
	// A jump host is reached by an ssh of its own, which gets none of our options.
	cmd.Env = append(os.Environ(), "SSH_ASKPASS_REQUIRE=never")
	cmd.WaitDelay = leaveLimit // an ssh that stays for others may hold standard error
	c := &sshConn{cmd: cmd, at: a, ended: make(chan error, 1)}
	cmd.Stderr = &c.said
	if c.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.out = bufio.NewReader(out)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting ssh: %w", err)
	}
	return c, nil
}

// sshConn is a connection through a process.
type sshConn struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	begun  bool   // the engine has answered
	greets []byte // what came before that, the last of it
	said   bytes.Buffer
	at     Address
	ending sync.Once
	ended  chan error // why, when a read has found the end
}

func (c *sshConn) Read(p []byte) (int, error) {
	n, err := 0, c.greeting()
	if err == nil {
		n, err = c.out.Read(p)
	}
	if err != nil {
		c.end()
		err = c.why(err, c.greets)
		select {
		case c.ended <- err:
		default: // it has been said
		}
	}
	return n, err
}

// The engine speaks first when it is asked, in these words. What a login prints comes before.
const (
	answers      = "HTTP/1."
	mostGreeting = 64 << 10 // bytes
	keptGreeting = 300
)

// greeting reads what a login prints, up to the engine's first answer.
func (c *sshConn) greeting() error {
	for n := 0; !c.begun; n++ {
		b, err := c.out.Peek(len(answers))
		switch {
		case string(b) == answers:
			c.begun, c.greets = true, nil
			return nil
		case len(b) == 0:
			return err
		case n == mostGreeting:
			return errors.New("the login there prints without an end")
		}
		if c.greets = append(c.greets, b[0]); len(c.greets) > keptGreeting {
			c.greets = c.greets[1:]
		}
		if _, err := c.out.Discard(1); err != nil {
			return err
		}
	}
	return nil
}

// why says why a connection has ended: in ssh's words, or in those of who has answered
// instead of the engine.
func (c *sshConn) why(err error, greets []byte) error {
	words := lastLine(c.said.Bytes())
	if s := c.cmd.ProcessState; s != nil && s.ExitCode() == sshdiag.Failed {
		if known := c.at.unreached(c.said.String()); known != nil {
			return known
		}
	}
	if words == "" {
		words = lastLine(greets)
	}
	if words == "" {
		return err
	}
	return fmt.Errorf("ssh says: %s: %w", words, err)
}

// unreached is what ssh says in a sentence; nil where it is none that is known.
func (a Address) unreached(said string) error {
	u, err := url.Parse(a.Host)
	if err != nil {
		return nil
	}
	port, _ := strconv.Atoi(u.Port()) // none is 0
	c, ok := sshdiag.Of(said, u.Hostname(), port)
	if !ok {
		return nil
	}
	return unavailable(nil, c.Advice, "%s at %s (by %s) is not reached: %s", a.Engine, a.Host, a.From, c.What)
}

func (c *sshConn) Write(p []byte) (int, error) {
	n, err := c.in.Write(p)
	if err == nil {
		return n, nil
	}
	// What was printed before the other side went away is being read: it says why.
	select {
	case why := <-c.ended:
		return n, why
	case <-time.After(leaveLimit):
	}
	c.end()
	return n, c.why(err, nil)
}

// CloseWrite tells the other side that no more comes.
func (c *sshConn) CloseWrite() error { return c.in.Close() }

func (c *sshConn) Close() error {
	// The bridge on the other side would wait for the daemon's end of the connection.
	_ = c.cmd.Process.Kill() // it may have gone
	c.end()
	return nil
}

// end takes the process away, so that none outlives its connection.
func (c *sshConn) end() {
	c.ending.Do(func() {
		late := time.AfterFunc(2*time.Second, func() { _ = c.cmd.Process.Kill() }) // it may have gone
		defer late.Stop()
		_ = c.in.Close()
		_ = c.cmd.Wait() // its end says nothing that the stream did not
	})
}

// sshAddr is an address in name alone.
type sshAddr string

func (sshAddr) Network() string  { return "ssh" }
func (a sshAddr) String() string { return string(a) }

func (c *sshConn) LocalAddr() net.Addr              { return sshAddr("here") }
func (c *sshConn) RemoteAddr() net.Addr             { return sshAddr(c.at.Host) }
func (c *sshConn) SetDeadline(time.Time) error      { return nil } // a request's context bounds it
func (c *sshConn) SetReadDeadline(time.Time) error  { return nil }
func (c *sshConn) SetWriteDeadline(time.Time) error { return nil }
