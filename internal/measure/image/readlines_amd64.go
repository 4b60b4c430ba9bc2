//go:build linux

package image

import _ "embed"

//go:embed readlines/bin/read-lines-amd64
var readLines []byte
