// Package vmtest tries Plimsoll on machines that differ from this one in what
// only a boot decides: the versions of control groups, the kernel, its clock.
//
// It is tests only. Each boots a small virtual machine under QEMU's emulation
// with the distribution's kernel, which the lab provides (lab/engines/vm up),
// copies this machine's own programs into it, and judges from outside what was
// measured inside; one measures an engine that runs inside from outside. The
// emulated processor needs no hardware support, and its times mean nothing: no
// test here looks at how long anything took.
//
// Why it is so: docs/decisions/control-groups.md, docs/decisions/portable.md.
package vmtest
