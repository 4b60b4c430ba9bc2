//go:build !unix

package safepath

// nonblock is nothing where no name of a file system can hold its reader.
const nonblock = 0
