//go:build !linux

package safepath

// Foreign knows owners on Linux only.
func (r Rule) Foreign(...string) (where, name string, uid int, err error) { return "", "", 0, nil }
