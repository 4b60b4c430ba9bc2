/* unsynced.c: a filter of system calls that answers those which wait until
 * something is on the disk, at once and with success. What a process writes is
 * then written out when the kernel gets to it, as if nobody had asked.
 *
 * A filter can answer for a call, and not change its arguments: a file that was
 * opened with O_SYNC, a write that asks for it by RWF_SYNC, and io_uring stay as
 * they are. Calls of another architecture (32 bits, x32) pass. */
#include <linux/audit.h>
#include "job.h"
#include "text.h"
#include "verbs.h"
#include "small.h"

#if defined(__x86_64__)
#define OURS AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OURS AUDIT_ARCH_AARCH64
#endif

#define SECCOMP_FILTER 1
#define SPECULATE 4 /* Linux 4.17: a filter alone is no reason to run slower */
#define RETURN_ALLOW 0x7fff0000u
#define RETURN_ERRNO 0x00050000u /* of 0: what was asked for is said to be done */
#define SYNCHRONOUS 4		 /* MS_SYNC */

enum { LOAD = 0x20, IF_EQUAL = 0x15, IF_ANY = 0x45, RETURN = 0x06 };
/* Where struct seccomp_data has them, both machines being little-endian. */
enum { CALL = 0, ARCHITECTURE = 4, THIRD = 16 + 2 * 8 };

/* install is for root: anybody else's filter needs no_new_privs, which would take
 * the rights of the set-uid programs that an engine calls (newuidmap). */
static long install(const void *instructions, u16 n) {
	struct {
		u16 len;
		const void *filter;
	} program = {n, instructions};
	return SYS(seccomp, SECCOMP_FILTER, SPECULATE, &program, 0, 0, 0);
}

long unsync(const char **what) {
	static const struct {
		u16 code;
		u8 yes, no;
		u32 k;
	} filter[] = {
		{LOAD, 0, 0, ARCHITECTURE},
		{IF_EQUAL, 0, 9, OURS},
		{LOAD, 0, 0, CALL},
		{IF_EQUAL, 8, 0, __NR_fsync},
		{IF_EQUAL, 7, 0, __NR_fdatasync},
		{IF_EQUAL, 6, 0, __NR_sync_file_range},
		{IF_EQUAL, 5, 0, __NR_syncfs},
		{IF_EQUAL, 4, 0, __NR_sync},
		{IF_EQUAL, 0, 2, __NR_msync},
		{LOAD, 0, 0, THIRD},
		{IF_ANY, 1, 0, SYNCHRONOUS},
		{RETURN, 0, 0, RETURN_ALLOW},
		{RETURN, 0, 0, RETURN_ERRNO},
	};
	*what = "seccomp (calls that wait for the disk)";
	long r = install(filter, COUNT(filter));
	if (r < 0)
		return r;
	*what = "fsync of no file, which the filter did not answer";
	return sys_fsync(-1);
}

void verb_unsynced(char **argv, char **env) {
	const char *what;
	long r;
	if (!argv[0] || !text_eq(argv[0], "--") || !argv[1])
		complain(STATUS_USAGE, "usage: unsynced -- PROGRAM ARGS", 0);
	r = unsync(&what);
	if (r < 0)
		complain(STATUS_SYSTEM, what, r);
	complain(STATUS_NO_EXEC, argv[1], sys_execve(argv[1], argv + 1, env));
}

#if defined(__clang__)
#pragma clang attribute pop
#endif
