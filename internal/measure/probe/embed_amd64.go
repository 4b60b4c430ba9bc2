package probe

import _ "embed"

//go:embed bin/probe-amd64
var image []byte
