package adapter

import (
	"bytes"
	"encoding/csv"
	"strings"
)

// CSV is one record of comma-separated values, as docker and podman take
// --mount: a path may hold a comma.
func CSV(fields []string) string {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(fields) // never fails on a buffer
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}
