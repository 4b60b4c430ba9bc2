package record

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// digest is the id of an Inside: the start of the SHA-256 of its JSON without
// the id. Maps are encoded in the order of their keys, so equal content gives
// equal ids.
func (in Inside) digest() (string, error) {
	in.ID = ""
	data, err := json.Marshal(in)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8]), nil
}
