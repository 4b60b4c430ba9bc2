package portable

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/moby/moby/client"
	"github.com/moby/moby/client/pkg/versions"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/agent"
	"plimsoll/internal/measure/engine"
)

// Daemon is an engine that is reached by Docker's API.
type Daemon struct {
	*client.Client
	At    Address
	RunID string // whose containers and images it removes; "" is nobody's
}

// Connect makes a client; it sends nothing yet. Connections stay open, so that no
// trial has to open the first one; a stream of a container's output is one of its own,
// with its own handshake, as every client of this API opens it.
func (a Address) Connect(runID string) (*Daemon, error) {
	transport := &http.Transport{MaxIdleConns: 8, MaxIdleConnsPerHost: 8}
	ours := client.WithHTTPClient(&http.Client{Transport: transport, CheckRedirect: client.CheckRedirect})
	opts := []client.Opt{ours}
	switch scheme, _, _ := strings.Cut(a.Host, "://"); {
	case scheme == "ssh":
		// Without HTTP/2 the transport gets no TLS configuration of its own, for which
		// the client would pass the dialer over where it opens a stream.
		transport.Protocols = new(http.Protocols)
		transport.Protocols.SetHTTP1(true)
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return a.bySSH(ctx) }
		// The name is of the Host header alone. It comes first: it would set a proxy of the
		// user's, which is none of a connection by ssh.
		opts = []client.Opt{client.WithHost("http://" + a.Engine), ours, client.WithScheme("http")}
	case a.TLS != nil:
		config, err := a.TLS.config()
		if err != nil {
			return nil, unavailable(err, "", "reading the certificates for %s at %s", a.Engine, a.Host)
		}
		transport.TLSClientConfig = config
		opts = append(opts, client.WithHost(a.Host), client.WithScheme("https"))
	default:
		opts = append(opts, client.WithHost(a.Host), client.WithScheme("http"))
	}
	c, err := client.New(opts...)
	if err != nil {
		return nil, unavailable(err, "", "making a client for %s at %s", a.Engine, a.Host)
	}
	return &Daemon{Client: c, At: a, RunID: runID}, nil
}

// config reads the files.
func (t *TLS) config() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: t.SkipVerify} //nolint:gosec // as the user's context says
	if t.CA != "" {
		text, err := safepath.ReadRegular(t.CA, mostOfConfig, "certificates in PEM")
		if err != nil {
			return nil, err
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s has no certificate", t.CA)
		}
	}
	if (t.Cert == "") != (t.Key == "") {
		return nil, errors.New("of the client's certificate and its key one is missing: expected cert.pem and key.pem")
	}
	if t.Cert != "" {
		pair, err := agent.KeyPair(t.Cert, t.Key)
		if err != nil {
			return nil, err
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// greetLimit bounds the first words with a daemon, which ssh and a sleeping virtual
// machine make long.
const greetLimit = engine.DetectLimit

// Greet opens the connection and negotiates the version of the API.
func (d *Daemon) Greet(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, greetLimit)
	defer cancel()
	said, err := d.Ping(ctx, client.PingOptions{NegotiateAPIVersion: true})
	if err != nil && versions.LessThan(cmp.Or(said.APIVersion, client.MinAPIVersion), client.MinAPIVersion) {
		return unavailable(nil, "update it", "%s at %s (by %s) speaks the API %s, and %s is the oldest that this program speaks", d.At.Engine, d.At.Host, d.At.From, brief(said.APIVersion), client.MinAPIVersion)
	}
	if err != nil {
		return d.wrong("asking whether it answers", err)
	}
	return nil
}

// roundTrips are how many of them are measured before a trial.
const roundTrips = 3

// RoundTrip is the median of a few requests that the daemon answers at once, over the
// connection that stays open, in ns.
func (d *Daemon) RoundTrip(ctx context.Context) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	return median(roundTrips, func() error {
		_, err := d.Ping(ctx, client.PingOptions{})
		return err
	})
}
