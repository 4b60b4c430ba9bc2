package probe

import "syscall"

// ownSession is no idea of Windows, where nothing is launched.
func ownSession() *syscall.SysProcAttr { return nil }
