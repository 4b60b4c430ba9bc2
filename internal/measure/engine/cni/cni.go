// Package cni gives containers of engines that have no networks of their own
// an address, by the plug-ins of the Container Network Interface.
//
// It is opinionated. What is called is what every manager on top of containerd
// calls: the plug-ins loopback and bridge, with addresses by host-local. The
// bridge and the addresses are a run's own and gone with it; nothing is read
// from the user's /etc/cni/net.d, and no packet filter is touched, so that
// containers reach each other and the host, and nobody else. Network
// namespaces are held by a file descriptor of ours and by nothing else: they
// end with us, whatever happens.
//
// Why it is so: docs/decisions/networks.md.
package cni

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// version of the specification: the newest that plug-ins of all ages speak.
const version = "0.4.0"

// callLimit bounds one call of a plug-in, which takes milliseconds.
const callLimit = 10 * time.Second

// usual is where distributions and Kubernetes keep plug-ins.
var usual = []string{"/opt/cni/bin", "/usr/lib/cni", "/usr/libexec/cni"}

// needed are the plug-ins that are called.
var needed = []string{"loopback", "bridge", "host-local"}

// Find gives the directory of the plug-ins. The error says what is missing.
func Find(kit *engine.Kit) (string, error) {
	if !kit.Root {
		return "", &engine.Error{Class: record.Unavailable, Text: "making a network by CNI needs root", Fix: "sudo plimsoll …"}
	}
	dirs := usual
	if p := kit.Getenv("CNI_PATH"); p != "" {
		dirs = filepath.SplitList(p)
	}
	for _, dir := range dirs {
		if hasAll(dir) {
			return dir, nil
		}
	}
	return "", &engine.Error{Class: record.Unavailable, Fix: "apt-get install containernetworking-plugins",
		Text: fmt.Sprintf("the CNI plug-ins %s are not in %s", strings.Join(needed, ", "), strings.Join(dirs, ", "))}
}

func hasAll(dir string) bool {
	return !slices.ContainsFunc(needed, func(name string) bool { return offers(dir, name) != nil })
}

// plugin is one plug-in with the configuration that it is given.
type plugin struct {
	dir, name string
	config    []byte
	device    string
}

// call is one call as the specification has it: everything but the
// configuration comes by the environment.
func (p plugin) call(ctx context.Context, command, id, netns string) ([]byte, error) {
	config, err := filled(p.config)
	if err != nil {
		return nil, err
	}
	defer config.Close()
	c := child.Command{Argv: []string{filepath.Join(p.dir, p.name)}, Stdin: config, Limit: callLimit}
	c.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "CNI_COMMAND=" + command, "CNI_CONTAINERID=" + id,
		"CNI_NETNS=" + netns, "CNI_IFNAME=" + p.device, "CNI_PATH=" + p.dir}
	printed, err := child.Run(ctx, c)
	out := printed.Stdout
	if err == nil {
		return out, nil
	}
	what := fmt.Sprintf("CNI's %s: %s", p.name, command)
	var said struct{ Msg, Details string }
	if json.Unmarshal(out, &said) == nil && said.Msg != "" {
		err = errors.New(strings.TrimSuffix(said.Msg+": "+said.Details, ": "))
	}
	return nil, &engine.Error{Class: record.EngineError, Text: what, Err: err}
}

// filled is a file in memory that has what a plug-in reads. What is no file is
// copied into a pipe by a goroutine, which may have to wait some ms for Go's
// scheduler where there are few processors: in a start that is being measured.
func filled(data []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("cni", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("making a file in memory: %w", err)
	}
	f := os.NewFile(uintptr(fd), "cni")
	if _, err = f.Write(data); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("writing a file in memory: %w", err)
	}
	return f, nil
}

// address reads the first IPv4 address of a plug-in's result.
func address(result []byte) (netip.Addr, error) {
	var r struct{ IPs []struct{ Address string } }
	if err := json.Unmarshal(result, &r); err != nil {
		return netip.Addr{}, fmt.Errorf("reading the plug-in's result: %w", err)
	}
	for _, ip := range r.IPs {
		if p, err := netip.ParsePrefix(ip.Address); err == nil && p.Addr().Is4() {
			return p.Addr(), nil
		}
	}
	return netip.Addr{}, fmt.Errorf("the plug-in's result has no IPv4 address: %s", result)
}
