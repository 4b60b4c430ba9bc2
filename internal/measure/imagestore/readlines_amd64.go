//go:build linux

package imagestore

import _ "embed"

//go:embed readlines/bin/read-lines-amd64
var readLines []byte
