package agent

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
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"time"

	"plimsoll/internal/common/safepath"
)

// The files of an agent's identity.
const (
	certFile  = "certificate.pem"
	keyFile   = "key.pem"
	tokenFile = "token"
)

// Identity is what an agent is known by, kept in a folder so that it is the same
// after a restart.
type Identity struct {
	Certificate tls.Certificate
	Token       string
	TokenFile   string
}

// mostOfPEM bounds a token, a certificate or a key, in bytes.
const mostOfPEM = 1 << 20

// KeyPair returns a certificate and its key from two files in PEM, as
// tls.LoadX509KeyPair does, if both are regular and no larger than such files are.
func KeyPair(cert, key string) (tls.Certificate, error) {
	certText, err := safepath.ReadRegular(cert, mostOfPEM, "a certificate in PEM")
	if err != nil {
		return tls.Certificate{}, err
	}
	keyText, err := safepath.ReadRegular(key, mostOfPEM, "a key in PEM")
	if err != nil {
		return tls.Certificate{}, err
	}
	pair, err := tls.X509KeyPair(certText, keyText)
	if err != nil {
		return pair, fmt.Errorf("%s with the key %s: %w", cert, key, err)
	}
	return pair, nil
}

// OpenIdentity reads an agent's identity, and makes it where the folder has none:
// a key, a certificate of its own for ten years, and a token.
func OpenIdentity(dir, host string) (*Identity, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("the agent's identity: %w", err)
	}
	id := &Identity{TokenFile: filepath.Join(dir, tokenFile)}
	cert, key := filepath.Join(dir, certFile), filepath.Join(dir, keyFile)
	if _, err := os.Stat(cert); errors.Is(err, fs.ErrNotExist) {
		if err := makeCertificate(cert, key, host); err != nil {
			return nil, fmt.Errorf("making the agent's certificate: %w", err)
		}
	}
	if _, err := os.Stat(id.TokenFile); errors.Is(err, fs.ErrNotExist) {
		if err := writeNew(id.TokenFile, []byte(newToken()+"\n")); err != nil {
			return nil, fmt.Errorf("making the agent's token: %w", err)
		}
	}
	var err error
	if id.Certificate, err = KeyPair(cert, key); err != nil {
		return nil, fmt.Errorf("reading the agent's certificate: %w", err)
	}
	if id.Token, err = ReadToken(id.TokenFile); err != nil {
		return nil, err
	}
	return id, nil
}

// makeCertificate makes a key and a certificate signed with it. Clients know it
// by its fingerprint, so that neither names nor dates in it carry any trust.
func makeCertificate(cert, key, host string) error {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return err
	}
	t := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "plimsoll agent on " + host}, DNSNames: []string{host},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(10, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, t, t, private.Public(), private)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return err
	}
	if err := writeNew(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})); err != nil {
		return err
	}
	return writeNew(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// writeNew writes a file that is not there yet, for its owner alone.
func writeNew(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Close())
}

// Fingerprint is the SHA-256 of a certificate, hexadecimal.
func Fingerprint(der []byte) string {
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:])
}
