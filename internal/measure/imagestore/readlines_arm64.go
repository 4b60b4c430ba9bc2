//go:build linux

package imagestore

import _ "embed"

//go:embed readlines/bin/read-lines-arm64
var readLines []byte
