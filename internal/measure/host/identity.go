//go:build linux

package host

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// identity is a digest of what names a machine or its boot, from which the name can't
// be found out: machine-id(5) asks that it is not shown, and derived by a key of the
// application in place of it. "" stays so.
func identity(id, of string) string {
	if id == "" || id == "uninitialized" { // systemd writes that before the first boot is done
		return ""
	}
	sum := hmac.New(sha256.New, []byte(id))
	sum.Write([]byte("plimsoll " + of))
	return hex.EncodeToString(sum.Sum(nil))[:32]
}
