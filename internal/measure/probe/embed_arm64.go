package probe

import _ "embed"

//go:embed bin/probe-arm64
var image []byte
