//go:build !amd64 && !arm64

package probe

// image is empty: there is no probe for this architecture, so that nothing
// can be measured on it; records can be read.
var image []byte
