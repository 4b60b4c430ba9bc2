//go:build linux

package proc

import "bytes"

// Inherited says whether a process was started with this variable, "K=V", in
// its environment. It is false where the environment can't be read, and where
// variable is empty.
func (d Dir) Inherited(pid int, variable string) bool {
	env, err := d.read(PID(pid), "environ")
	return variable != "" && err == nil && bytes.Contains([]byte("\x00"+env), []byte("\x00"+variable+"\x00"))
}
