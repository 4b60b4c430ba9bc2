package mpi

import _ "embed"

//go:embed bin/mpi-amd64
var program []byte
