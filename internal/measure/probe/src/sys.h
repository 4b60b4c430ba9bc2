/* sys.h: the system calls that the probe uses, with no C library in between.
 *
 * Each returns what the kernel returns: -errno on failure. Only calls that
 * both amd64 and arm64 have are used (openat, not open). */
#ifndef PROBE_SYS_H
#define PROBE_SYS_H

#include <asm/errno.h>
#include <asm/fcntl.h>
#include <asm/poll.h>
#include <asm/signal.h>
#include <asm/unistd.h>
#include <linux/resource.h>
#include <linux/sched.h>
#include <linux/time_types.h>
#include <linux/types.h>
#include <linux/utsname.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 i32;
typedef __s64 i64;
typedef unsigned long usize;

#define NULL ((void *)0)
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Of headers that clash with one another between distributions; all of them
 * are fixed by the kernel's interface. */
#define PROBE_AT_FDCWD (-100)
#define PROBE_CLOCK_REALTIME 0
#define PROBE_CLOCK_MONOTONIC 1
#define PROBE_CLOCK_BOOTTIME 7
#define PROBE_TIMER_ABSTIME 1
#define PROBE_WNOHANG 1
#define PROBE_WEXITED 4
#define PROBE_WNOWAIT 0x01000000
#define PROBE_F_OK 0
#define PROBE_X_OK 1
#define PROBE_AF_INET 2
#define PROBE_SOCK_STREAM 1
#define PROBE_SOCK_CLOEXEC 02000000
#define PROBE_PR_SET_PDEATHSIG 1
#define PROBE_PR_SET_DUMPABLE 4
#define PROBE_PR_SET_TIMERSLACK 29
#define PROBE_PR_SET_CHILD_SUBREAPER 36
#define PROBE_MS_NOSUID 2
#define PROBE_MS_NODEV 4
#define PROBE_MS_NOEXEC 8
#define PROBE_MS_REC 16384
#define PROBE_MS_PRIVATE (1 << 18)
#define PROBE_MNT_DETACH 2
#define PROBE_SFD_NONBLOCK 04000
#define PROBE_SFD_CLOEXEC 02000000
#define PROBE_RLIMIT_NPROC 6
#define PROBE_RLIMIT_NOFILE 7
#define PROBE_CLOSE_RANGE_CLOEXEC 4
#define PROBE_F_DUPFD_CLOEXEC 1030

#if defined(__x86_64__)
static inline long syscall6(long n, long a, long b, long c, long d, long e, long f) {
	long r;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	__asm__ volatile("syscall"
			 : "=a"(r)
			 : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return r;
}
#elif defined(__aarch64__)
static inline long syscall6(long n, long a, long b, long c, long d, long e, long f) {
	register long x8 __asm__("x8") = n;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;
	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory", "cc");
	return x0;
}
#else
#error "the probe knows amd64 and arm64 only"
#endif

#define SYS(n, a, b, c, d, e, f) \
	syscall6(__NR_##n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

typedef u64 sigset; /* the kernel's: 64 signals */
#define SIGBIT(n) (1ULL << ((n)-1))

static inline long sys_read(int fd, void *p, usize n) { return SYS(read, fd, p, n, 0, 0, 0); }
static inline long sys_write(int fd, const void *p, usize n) { return SYS(write, fd, p, n, 0, 0, 0); }
static inline long sys_close(int fd) { return SYS(close, fd, 0, 0, 0, 0, 0); }
static inline long sys_open(const char *path, int flags) {
	return SYS(openat, PROBE_AT_FDCWD, path, flags | O_CLOEXEC, 0, 0, 0);
}
static inline long sys_create(const char *path, int flags, int mode) {
	return SYS(openat, PROBE_AT_FDCWD, path, flags | O_CLOEXEC, mode, 0, 0);
}
static inline long sys_access(const char *path, int mode) {
	return SYS(faccessat, PROBE_AT_FDCWD, path, mode, 0, 0, 0);
}
static inline long sys_readlink(const char *path, char *p, usize n) {
	return SYS(readlinkat, PROBE_AT_FDCWD, path, p, n, 0, 0);
}
static inline long sys_pipe(int fds[2]) { return SYS(pipe2, fds, O_CLOEXEC, 0, 0, 0, 0); }
static inline long sys_dup3(int from, int to, int flags) { return SYS(dup3, from, to, flags, 0, 0, 0); }
static inline long sys_fcntl(int fd, int cmd, long arg) { return SYS(fcntl, fd, cmd, arg, 0, 0, 0); }
static inline long sys_close_range(u32 first, u32 last, u32 flags) {
	return SYS(close_range, first, last, flags, 0, 0, 0);
}
static inline long sys_getdents64(int fd, void *p, usize n) { return SYS(getdents64, fd, p, n, 0, 0, 0); }
static inline long sys_mkdir(const char *path, int mode) {
	return SYS(mkdirat, PROBE_AT_FDCWD, path, mode, 0, 0, 0);
}
static inline long sys_chdir(const char *path) { return SYS(chdir, path, 0, 0, 0, 0, 0); }
static inline long sys_chroot(const char *path) { return SYS(chroot, path, 0, 0, 0, 0, 0); }
static inline long sys_mount(const char *src, const char *at, const char *type, long flags, const char *opts) {
	return SYS(mount, src, at, type, flags, opts, 0);
}
static inline long sys_umount2(const char *at, int flags) { return SYS(umount2, at, flags, 0, 0, 0, 0); }
static inline long sys_pivot_root(const char *to, const char *old) {
	return SYS(pivot_root, to, old, 0, 0, 0, 0);
}
static inline long sys_execve(const char *path, char *const *argv, char *const *env) {
	return SYS(execve, path, argv, env, 0, 0, 0);
}
static inline long sys_getpid(void) { return SYS(getpid, 0, 0, 0, 0, 0, 0); }
static inline long sys_getppid(void) { return SYS(getppid, 0, 0, 0, 0, 0, 0); }
static inline long sys_getuid(void) { return SYS(getuid, 0, 0, 0, 0, 0, 0); }
static inline long sys_geteuid(void) { return SYS(geteuid, 0, 0, 0, 0, 0, 0); }
static inline long sys_getgid(void) { return SYS(getgid, 0, 0, 0, 0, 0, 0); }
static inline long sys_getegid(void) { return SYS(getegid, 0, 0, 0, 0, 0, 0); }
static inline long sys_setgroups(usize n, const u32 *g) { return SYS(setgroups, n, g, 0, 0, 0, 0); }
static inline long sys_setresuid(u32 r, u32 e, u32 s) { return SYS(setresuid, r, e, s, 0, 0, 0); }
static inline long sys_setresgid(u32 r, u32 e, u32 s) { return SYS(setresgid, r, e, s, 0, 0, 0); }
static inline long sys_setpgid(int pid, int pgid) { return SYS(setpgid, pid, pgid, 0, 0, 0, 0); }
static inline long sys_kill(int pid, int sig) { return SYS(kill, pid, sig, 0, 0, 0, 0); }
static inline long sys_prctl(int op, long a) { return SYS(prctl, op, a, 0, 0, 0, 0); }
static inline long sys_uname(struct new_utsname *u) { return SYS(uname, u, 0, 0, 0, 0, 0); }
static inline long sys_prlimit(int res, const struct rlimit64 *set, struct rlimit64 *get) {
	return SYS(prlimit64, 0, res, set, get, 0, 0);
}
static inline long sys_wait4(int pid, int *status, int flags, struct rusage *ru) {
	return SYS(wait4, pid, status, flags, ru, 0, 0);
}
/* sys_childless: 0 where there are children, -ECHILD where there are none;
 * nothing is collected. */
static inline long sys_childless(void) {
	return SYS(waitid, 0, 0, NULL, PROBE_WEXITED | PROBE_WNOHANG | PROBE_WNOWAIT, NULL, 0);
}
static inline long sys_pidfd_open(int pid) { return SYS(pidfd_open, pid, 0, 0, 0, 0, 0); }
static inline long sys_pidfd_send_signal(int fd, int sig) {
	return SYS(pidfd_send_signal, fd, sig, NULL, 0, 0, 0);
}
static inline long sys_ppoll(struct pollfd *p, usize n, const struct __kernel_timespec *t) {
	return SYS(ppoll, p, n, t, NULL, sizeof(sigset), 0);
}
static inline long sys_sigprocmask(int how, const sigset *set) {
	return SYS(rt_sigprocmask, how, set, NULL, sizeof(sigset), 0, 0);
}
static inline long sys_sigtimedwait(const sigset *set, const struct __kernel_timespec *t) {
	return SYS(rt_sigtimedwait, set, NULL, t, sizeof(sigset), 0, 0);
}
#define PROBE_PROT_RW 3
#define PROBE_MAP_PRIVATE_ANONYMOUS 0x22
#define PROBE_MADV_NOHUGEPAGE 15
#define PROBE_PAGE 4096
/* sys_anonymous gives zeroed memory of our own, or -errno as a pointer; see failed_at. */
static inline void *sys_anonymous(usize n) {
	return (void *)SYS(mmap, NULL, n, PROBE_PROT_RW, PROBE_MAP_PRIVATE_ANONYMOUS, -1, 0);
}
static inline long failed_at(const void *p) { return (long)p < 0 && (long)p > -4096 ? (long)p : 0; }
static inline long sys_munmap(void *p, usize n) { return SYS(munmap, p, n, 0, 0, 0, 0); }
static inline long sys_madvise(void *p, usize n, int advice) { return SYS(madvise, p, n, advice, 0, 0, 0); }
#define PROBE_MADV_HUGEPAGE 14
static inline long sys_brk(usize at) { return SYS(brk, at, 0, 0, 0, 0, 0); }
static inline long sys_unlink(const char *path) { return SYS(unlinkat, PROBE_AT_FDCWD, path, 0, 0, 0, 0); }
static inline long sys_fsync(int fd) { return SYS(fsync, fd, 0, 0, 0, 0, 0); }
static inline long sys_futex(u32 *at, int op, u32 value) { return SYS(futex, at, op, value, NULL, 0, 0); }
static inline long sys_set_tid_address(u32 *at) { return SYS(set_tid_address, at, 0, 0, 0, 0, 0); }
static inline long sys_getrusage(struct rusage *ru) { return SYS(getrusage, 0, ru, 0, 0, 0, 0); }
/* sys_thread_exit ends this thread only. */
static inline __attribute__((noreturn)) void sys_thread_exit(void) {
	for (;;)
		SYS(exit, 0, 0, 0, 0, 0, 0);
}
static inline long sys_getrandom(void *p, usize n) { return SYS(getrandom, p, n, 0, 0, 0, 0); }
static inline long sys_socket(int family, int type) { return SYS(socket, family, type, 0, 0, 0, 0); }
static inline long sys_connect(int fd, const void *at, usize n) { return SYS(connect, fd, at, n, 0, 0, 0); }
static inline long sys_signalfd(const sigset *set) {
	return SYS(signalfd4, -1, set, sizeof(sigset), PROBE_SFD_NONBLOCK | PROBE_SFD_CLOEXEC, 0, 0);
}
static inline long sys_clock_nanosleep(int clock, int flags, const struct __kernel_timespec *t) {
	return SYS(clock_nanosleep, clock, flags, t, NULL, 0, 0);
}
static inline i64 sys_clock(int clock) {
	struct __kernel_timespec t = {0, 0};
	if (SYS(clock_gettime, clock, &t, 0, 0, 0, 0) < 0)
		return 0;
	return (i64)t.tv_sec * 1000000000 + t.tv_nsec;
}
static inline i64 now(void) { return sys_clock(PROBE_CLOCK_MONOTONIC); }
static inline __attribute__((noreturn)) void sys_exit(int status) {
	for (;;)
		SYS(exit_group, status, 0, 0, 0, 0, 0);
}

/* The kernel's struct sigaction; both architectures have the restorer. */
struct ksigaction {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	sigset mask;
};
#define PROBE_SIG_DFL ((void (*)(int))0)
#define PROBE_SIG_IGN ((void (*)(int))1)
static inline long sys_sigaction(int sig, const struct ksigaction *a) {
	return SYS(rt_sigaction, sig, a, NULL, sizeof(sigset), 0, 0);
}

/* spawn_call makes the system call nr(a, b), which is clone or clone3; the
 * child runs fn(arg) on the stack that the call gave it and ends with its
 * result. In arch.c. */
long spawn_call(long nr, unsigned long a, unsigned long b, int (*fn)(void *), void *arg);

#endif
