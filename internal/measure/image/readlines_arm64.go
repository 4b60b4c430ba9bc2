//go:build linux

package image

import _ "embed"

//go:embed readlines/bin/read-lines-arm64
var readLines []byte
