package stamp

import (
	"math/bits"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	kernel32  = windows.NewLazySystemDLL("kernel32.dll")
	counter   = kernel32.NewProc("QueryPerformanceCounter")
	frequency = perSecond()
)

func perSecond() uint64 {
	var f int64
	// It can't fail on Windows XP or later (QueryPerformanceFrequency's manual).
	_, _, _ = kernel32.NewProc("QueryPerformanceFrequency").Call(uintptr(unsafe.Pointer(&f)))
	return uint64(max(f, 1))
}

// Now is the performance counter in nanoseconds: Go's own monotonic clock moves in
// steps of the system's timer there, of up to 15 ms.
func Now() int64 {
	var c int64
	_, _, _ = counter.Call(uintptr(unsafe.Pointer(&c))) // as above
	high, low := bits.Mul64(uint64(c), 1e9)
	ns, _ := bits.Div64(high%frequency, low, frequency)
	return int64(ns)
}
