package agent

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"plimsoll/internal/common/bounded"
)

// Address is where an agent is, and which certificate it must have.
type Address struct {
	Host string // and port
	// Fingerprint is the SHA-256 of the certificate; empty where an authority of
	// this machine vouches for it.
	Fingerprint string
}

// DefaultPort is where an agent listens unless it is told otherwise.
const DefaultPort = "7655"

// ParseAddress reads https://HOST:PORT#FINGERPRINT, as plimsoll agent prints it.
func ParseAddress(s string) (Address, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return Address{}, fmt.Errorf("an agent's address: %w", err)
	case u.Scheme != "https" || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "":
		return Address{}, fmt.Errorf("%q is not an agent's address: expected https://HOST:PORT#FINGERPRINT, as plimsoll agent prints it", s)
	}
	a := Address{Host: u.Host, Fingerprint: strings.ToLower(u.Fragment)}
	if u.Port() == "" {
		a.Host = net.JoinHostPort(u.Hostname(), DefaultPort)
	}
	if b, err := hex.DecodeString(a.Fingerprint); a.Fingerprint != "" && (err != nil || len(b) != 32) {
		return Address{}, fmt.Errorf("%q has no fingerprint of 64 hexadecimal digits behind the #", s)
	}
	return a, nil
}

// Client asks one agent.
type Client struct {
	base  string
	token string
	http  *http.Client
}

// NewClient makes a client. Close it.
func NewClient(a Address, token string) *Client {
	t := &tls.Config{MinVersion: tls.VersionTLS13}
	if a.Fingerprint != "" {
		// The certificate is this one or none: nobody else's word is asked for.
		t.InsecureSkipVerify = true
		t.VerifyConnection = func(c tls.ConnectionState) error {
			if len(c.PeerCertificates) == 0 || Fingerprint(c.PeerCertificates[0].Raw) != a.Fingerprint {
				return errors.New("the agent has another certificate than the one whose fingerprint was given")
			}
			return nil
		}
	}
	// A proxy of the environment's is none of an agent's.
	return &Client{base: "https://" + a.Host, token: token, http: &http.Client{
		Transport:     &http.Transport{TLSClientConfig: t, MaxIdleConnsPerHost: 1, ForceAttemptHTTP2: false},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Close lets go of the connection.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// call asks, and reads the answer within bounds.
func (c *Client) call(ctx context.Context, method, path string, ask, into any) error {
	var body io.Reader
	if ask != nil {
		b, err := json.Marshal(ask)
		if err != nil {
			return err
		}
		body = bytes.NewReader(b)
	}
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	res, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	b, err := bounded.Read(res.Body, mostAnswered, fmt.Sprintf("the agent's answer is longer than %d MiB", mostAnswered>>20))
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		var no refusal
		if json.Unmarshal(b, &no) == nil && no.Error != "" {
			return fmt.Errorf("the agent says: %s", no.Error)
		}
		return fmt.Errorf("the agent answers with status %d", res.StatusCode)
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("the agent's answer: %w", err)
	}
	return nil
}

// About is what the agent has.
func (c *Client) About(ctx context.Context) (*About, error) {
	var a About
	return &a, c.call(ctx, http.MethodGet, pathAbout, nil, &a)
}

// Begin opens a window.
func (c *Client) Begin(ctx context.Context, ask BeginAsk) (*BeginAnswer, error) {
	var a BeginAnswer
	return &a, c.call(ctx, http.MethodPost, pathBegin, ask, &a)
}

// End ends a window.
func (c *Client) End(ctx context.Context, ask EndAsk) (*Window, error) {
	var w Window
	return &w, c.call(ctx, http.MethodPost, pathEnd, ask, &w)
}
