package portable

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"os/exec"
	"sync"
	"time"
)

// sshArgs are the arguments of the system's ssh, which lends its configuration, its
// agent and its known hosts. It asks nobody: a host key that is unknown is an error.
func (a Address) sshArgs() ([]string, error) {
	u, err := url.Parse(a.Host)
	if err != nil {
		return nil, err
	}
	args := []string{"-o", "BatchMode=yes", "-o", "ConnectTimeout=20", "-T"}
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
	c := &sshConn{cmd: cmd, host: a.Host}
	cmd.Stderr = &c.said
	if c.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if c.out, err = cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting ssh: %w", err)
	}
	return c, nil
}

// sshConn is a connection through a process.
type sshConn struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.ReadCloser
	said   bytes.Buffer
	host   string
	ending sync.Once
}

func (c *sshConn) Read(p []byte) (int, error) {
	n, err := c.out.Read(p)
	if err != nil {
		c.end()
		if words := lastLine(c.said.Bytes()); words != "" {
			err = fmt.Errorf("ssh says: %s: %w", words, err)
		}
	}
	return n, err
}

func (c *sshConn) Write(p []byte) (int, error) { return c.in.Write(p) }

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
func (c *sshConn) RemoteAddr() net.Addr             { return sshAddr(c.host) }
func (c *sshConn) SetDeadline(time.Time) error      { return nil } // a request's context bounds it
func (c *sshConn) SetReadDeadline(time.Time) error  { return nil }
func (c *sshConn) SetWriteDeadline(time.Time) error { return nil }
