//go:build !unix

package safepath

import "io/fs"

// OwnedBy knows owners on Unix only.
func OwnedBy(fs.FileInfo, int) bool { return false }

// Alone knows owners on Unix only.
func Alone(string, fs.FileInfo) error { return nil }
