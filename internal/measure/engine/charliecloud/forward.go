package charliecloud

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"
)

// forwarder answers by TLS and asks the registry behind it by plain HTTP:
// ch-image knows no other than https addresses. What the encryption costs is
// part of what its pulls take, and the facts say so.
type forwarder struct {
	server *http.Server
	addr   string
}

// forwardTo starts a forwarder on loopback for a registry's HOST:PORT.
func forwardTo(registry string) (*forwarder, error) {
	cert, err := Certificate()
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: registry})
		},
		Transport: &http.Transport{Proxy: nil, DisableCompression: true},
		ErrorLog:  log.New(io.Discard, "", 0),
	}
	f := &forwarder{addr: l.Addr().String(), server: &http.Server{
		Handler: proxy, ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12},
	}}
	go func() { _ = f.server.ServeTLS(l, "", "") }() // its end is told by Close
	return f, nil
}

func (f *forwarder) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := f.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return f.server.Close()
	}
	return err
}

// Certificate makes one that nobody has to trust: ch-image is told not to
// look at it, and the digests say whether the bytes are right.
func Certificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	t := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "plimsoll"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, t, t, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}
