//go:build !amd64 && !arm64

package mpi

// program is empty: there is none for this architecture.
var program []byte
