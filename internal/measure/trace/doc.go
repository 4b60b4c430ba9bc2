// Package trace records the kernel's view of a start: who ran where, who waited in
// which function, and who woke whom.
//
// It reads the kernel's tracepoints through programs in the kernel (BPF) where it takes
// them, and through perf events. Both live as long as their file descriptors: nothing has to be switched off again, and a kill leaves
// nothing behind. The tracing file system is only asked what the tracepoints look
// like, in a mount that no path leads to.
//
// Why it is so: docs/decisions/why.md.
package trace
