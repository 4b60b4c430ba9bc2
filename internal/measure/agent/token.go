package agent

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"strings"

	"plimsoll/internal/common/safepath"
)

// leastToken is how long a token must be, characters.
const leastToken = 16

// newToken makes a token.
func newToken() string {
	b := make([]byte, 24)
	_, _ = rand.Read(b) // never fails: the Go runtime ends the program instead
	return hex.EncodeToString(b)
}

// ReadToken reads a token from a file that only its owner may read.
func ReadToken(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("reading the agent's token: %w", err)
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("reading the agent's token: %s is not a file", path)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("reading the agent's token: others may read %s too: chmod 600 %s", path, path)
	}
	b, err := safepath.ReadRegular(path, mostOfPEM, "one line of letters and digits")
	if err != nil {
		return "", fmt.Errorf("reading the agent's token: %w", err)
	}
	token := strings.TrimSpace(string(b))
	if len(token) < leastToken || len(token) > 1024 || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("%s holds no token: one line of %d or more letters and digits", path, leastToken)
	}
	return token, nil
}

// bears says whether a request brings the token. It takes as long for a token
// that is nearly right as for one that is not: sums of equal length are compared.
func bears(r *http.Request, token string) bool {
	given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1 && ok
}
