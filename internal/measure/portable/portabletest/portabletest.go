// Package portabletest puts daemons of this machine behind interfaces, for tests:
// certificates, Docker contexts, TCP with TLS.
package portabletest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Authority makes certificates for one side each.
type Authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// Issue writes cert.pem and key.pem for a name into a folder, and ca.pem beside them.
func (a *Authority) Issue(dir, name string, usage x509.ExtKeyUsage) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{usage}, KeyUsage: x509.KeyUsageDigitalSignature, IPAddresses: []net.IP{net.ParseIP(name)}}
	if net.ParseIP(name) == nil {
		template.IPAddresses = nil
	}
	parent, signer := a.cert, a.key
	if parent == nil { // its own
		template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
		template.ExtKeyUsage = nil
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		return err
	}
	if a.cert == nil {
		a.key = key
		a.cert, err = x509.ParseCertificate(der)
		return err
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	errs := []error{os.MkdirAll(dir, 0o700)}
	for file, block := range map[string]*pem.Block{"ca.pem": {Type: "CERTIFICATE", Bytes: a.cert.Raw}, "cert.pem": {Type: "CERTIFICATE", Bytes: der}, "key.pem": {Type: "EC PRIVATE KEY", Bytes: private}} {
		errs = append(errs, os.WriteFile(filepath.Join(dir, file), pem.EncodeToMemory(block), 0o600))
	}
	return errors.Join(errs...)
}

// NewAuthority makes one that both sides know.
func NewAuthority() (*Authority, error) {
	a := &Authority{}
	return a, a.Issue("", "an authority of a test's own", x509.ExtKeyUsageAny)
}

// WriteContext writes what `docker context create` does into a client's folder.
func WriteContext(config, name, host string, a *Authority) error {
	sum := sha256.Sum256([]byte(name))
	id := hex.EncodeToString(sum[:])
	meta := filepath.Join(config, "contexts", "meta", id)
	errs := []error{os.MkdirAll(meta, 0o700)}
	text := fmt.Sprintf(`{"Name":%q,"Metadata":{},"Endpoints":{"docker":{"Host":%q,"SkipTLSVerify":false}}}`, name, host)
	errs = append(errs, os.WriteFile(filepath.Join(meta, "meta.json"), []byte(text), 0o600),
		os.WriteFile(filepath.Join(config, "config.json"), []byte(`{"currentContext":"`+name+`"}`), 0o600))
	if a != nil {
		errs = append(errs, a.Issue(filepath.Join(config, "contexts", "tls", id, "docker"), "a client", x509.ExtKeyUsageClientAuth))
	}
	return errors.Join(errs...)
}

// BehindTLS serves a daemon's Unix socket by TCP with TLS, to clients of the authority
// only, as dockerd --tlsverify does, until the listener is closed.
func BehindTLS(dir, socket string, a *Authority) (net.Listener, error) {
	if err := a.Issue(dir, "127.0.0.1", x509.ExtKeyUsageServerAuth); err != nil {
		return nil, err
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"))
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert})
	if err != nil {
		return nil, err
	}
	go Relay(l, socket)
	return l, nil
}

// Relay passes on what a listener accepts to a Unix socket, until the listener is closed.
func Relay(l net.Listener, socket string) {
	for {
		in, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer in.Close()
			out, err := net.Dial("unix", socket)
			if err != nil {
				return
			}
			defer out.Close()
			go func() {
				_, _ = io.Copy(out, in) // the client has gone, or said all
				_ = out.(*net.UnixConn).CloseWrite()
			}()
			_, _ = io.Copy(in, out)
		}()
	}
}
