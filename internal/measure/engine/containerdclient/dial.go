package containerdclient

import (
	"context"
	"net"
	"strings"
	"time"

	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/log"
	"google.golang.org/grpc"
)

// Dial opens a connection to the containerd at a socket. It fails at once where
// nobody listens; the library's own dialer tries again and again for seconds,
// while a call that is under way waits.
func Dial(ctx context.Context, socket string, limit time.Duration, opts ...client.Opt) (*client.Client, error) {
	// The library logs to our standard error what it then returns.
	if err := log.SetLevel("fatal"); err != nil {
		return nil, err
	}
	once, err := dialOnce(ctx, socket)
	if err != nil {
		return nil, err
	}
	_ = once.Close()
	return client.New(socket, append([]client.Opt{client.WithTimeout(limit),
		client.WithExtraDialOpts([]grpc.DialOption{grpc.WithContextDialer(dialOnce)})}, opts...)...)
}

func dialOnce(ctx context.Context, address string) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, "unix", strings.TrimPrefix(address, "unix://"))
}
