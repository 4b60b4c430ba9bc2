// Package safepath opens, makes and removes files and directories below paths
// that others may have a hand in, so that whoever owns a directory on the way
// cannot lead us elsewhere.
//
// Root goes to a directory one component after the other and holds each one
// open while it looks at it (openat(2), O_NOFOLLOW): what was looked at is what
// is used. Each must belong to root, to ourselves or to one of the owners that
// the caller trusts. A symbolic link is followed only where nobody but root and
// we ourselves could have made it: distributions have such links (/var/run,
// /home), and they are no danger. Through a directory that others may write to,
// as /tmp, the way leads only into one that is ours and closed to their
// writing: an old one of ours, or a new one with mode 0700.
//
// An ordinary user has no rights that another could borrow, beyond what the
// kernel sees to: the way to a directory is then the kernel's. In the directory
// itself no link is followed, whoever we are.
//
// On other systems than Linux only the reading half of the program runs; there
// the same calls do what the standard library does.
//
// Why it is so: docs/decisions/ownership.md.
package safepath
