//go:build !unix

package engine

import "io/fs"

// roots is no question where there is no root.
func roots(fs.FileInfo) bool { return false }
