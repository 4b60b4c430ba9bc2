/* unsynced.c: what system calls come to that can do nothing, by name: with the filter
 * that has nobody wait for the disk, and without. */
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void tell(const char *name, long r) { printf("%s %ld\n", name, r < 0 ? -(long)errno : r); }

#if defined(__x86_64__)
/* by32 makes a call of the 32-bit table. Where the kernel has none, a process that does so
 * ends by a signal. */
static long by32(long call, long first) {
	long r;
	__asm__ volatile("int $0x80" : "=a"(r) : "a"(call), "b"(first), "c"(0L) : "r8", "r9", "r10", "r11", "memory");
	return r;
}

static void tell32(const char *name, long call, long first) {
	int status = 0, p[2];
	long r = 0;
	if (pipe(p) < 0 || fork() == 0) {
		r = by32(call, first);
		_exit(write(p[1], &r, sizeof(r)) != sizeof(r));
	}
	wait(&status);
	if (status == 0 && read(p[0], &r, sizeof(r)) == sizeof(r))
		printf("%s %d\n", name, (int)r);
}
#endif

int main(void) {
	setvbuf(stdout, NULL, _IONBF, 0);
	tell("fsync", syscall(SYS_fsync, -1));
	tell("fdatasync", syscall(SYS_fdatasync, -1));
	tell("sync_file_range", syscall(SYS_sync_file_range, -1, 0L, 0L, 0));
	tell("syncfs", syscall(SYS_syncfs, -1));
	tell("msync", syscall(SYS_msync, 1L, 1L, MS_SYNC));
	tell("msync-later", syscall(SYS_msync, 1L, 1L, MS_ASYNC));
	tell("read", syscall(SYS_read, -1, NULL, 0L));
	tell("close", syscall(SYS_close, -1));
#if defined(__x86_64__)
	tell("x32-fsync", syscall(0x40000000L | SYS_fsync, -1));
	tell32("i386-fsync", 118, -1);
	tell32("i386-nanosleep", SYS_sync, 0); /* the number is sync's of 64 bits */
#endif
	return 0;
}
