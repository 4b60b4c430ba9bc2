package cni

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// reserve takes a network for this process, among all that share its network namespace:
// the bridge that shows to others that it is taken comes with the first container alone,
// and a host that has two bridges with one network reaches the containers of one of them.
// What is taken is an abstract socket, which the kernel lets go of with the process. nil:
// another has it.
func reserve(network netip.Prefix) (io.Closer, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("reserving the network %s: %w", network, err)
	}
	name := "plimsoll-network-" + network.String()
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: "@" + name}); err != nil {
		unix.Close(fd)
		if errors.Is(err, unix.EADDRINUSE) {
			return nil, nil //nolint:nilnil // as said above
		}
		return nil, fmt.Errorf("reserving the network %s: %w", network, err)
	}
	return os.NewFile(uintptr(fd), name), nil
}
