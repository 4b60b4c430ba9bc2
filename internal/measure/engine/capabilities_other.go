//go:build !linux

package engine

// OwnCapabilities are Linux's: nobody has any to give elsewhere.
func OwnCapabilities() []string { return nil }
