//go:build linux

package imagestore

import "time"

// Cost is roughly what building an image takes, with its packages from a mirror that is
// near: more where the machine is busy or the mirror far.
type Cost struct {
	Time time.Duration
	Disk int64 // bytes in the store, with one format for the engines
}

// CostOf is that of an image that is built on demand; zero for others.
func CostOf(name string) Cost {
	const mib = 1 << 20
	switch name {
	case "toolbox": // with the minimal system below it
		return Cost{2 * time.Minute, 1024 * mib}
	case "debian", "ubuntu-base":
		return Cost{30 * time.Second, 200 * mib}
	}
	return Cost{}
}
