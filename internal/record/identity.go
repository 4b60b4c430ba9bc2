package record

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// Identity is a digest of what names a machine or its boot, from which the name can't be
// found out: machine-id(5) asks that it is not shown, and derived by a key of the
// application in place of it. of says what is named; "" stays so.
func Identity(id, of string) string {
	if id == "" || id == "uninitialized" { // systemd writes that before the first boot is done
		return ""
	}
	sum := hmac.New(sha256.New, []byte(id))
	sum.Write([]byte("plimsoll " + of))
	return hex.EncodeToString(sum.Sum(nil))[:32]
}

// OfBoot is what the boot of a kernel is named by, and OfMachine a system's identifier, to
// Identity.
const (
	OfBoot    = "boot"
	OfMachine = "machine"
)

// What stands in Host.More of a record whose engines were measured from elsewhere, and
// decides which host it is of.
const (
	MoreHalf   = "half"    // which half measured, where it is not the full one
	MoreClient = "client"  // the name of the machine that it was measured from
	MoreNameOf = "name-of" // MoreClient, where Host.Name is that machine's for want of another
)
