package mpi

import _ "embed"

//go:embed bin/mpi-arm64
var program []byte
