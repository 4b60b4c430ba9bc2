/* init.c: the first process of a system container.
 *
 * It does what an init owes its container and nothing else: it says when its
 * first instruction ran, reaps, and on the engine's word to shut down asks
 * every other process to end and waits for them. The kernel kills the rest
 * when it ends itself. */
#include "text.h"
#include "verbs.h"

static struct out out;
static char entries[4096];

static void never(int sig) { (void)sig; }

/* expect makes a signal one that PID 1 gets: from outside its namespace only
 * those with a handler come, and a blocked one is kept until it is waited for. */
static void expect(sigset set) {
	struct ksigaction act = {never, 0, NULL, 0};
	long r = sys_sigprocmask(SIG_BLOCK, &set);
	for (int sig = 1; sig < 32 && r >= 0; sig++)
		if (set & SIGBIT(sig))
			r = sys_sigaction(sig, &act);
	if (r < 0)
		complain(STATUS_SYSTEM, "init: expecting signals", r);
}

static void reap_all(void) {
	struct rusage ru;
	int status;
	while (sys_wait4(-1, &status, PROBE_WNOHANG, &ru) > 0)
		;
}

/* outlive waits for the end of one process; 1 where it still ran. A process
 * that was executed from outside is nobody's child in here, so that a pidfd
 * is the only thing to wait for it by. */
static int outlive(int pid) {
	struct pollfd p = {0, POLLIN, 0};
	long fd = sys_pidfd_open(pid), r;
	struct __kernel_timespec none = {0, 0};
	if (fd < 0)
		return 0;
	p.fd = (int)fd;
	r = sys_ppoll(&p, 1, &none);
	if (r == 0)
		while (sys_ppoll(&p, 1, NULL) == -EINTR)
			;
	sys_close((int)fd);
	return r == 0;
}

/* others waits for every other process; the number of those that still ran.
 * Without a /proc there is nobody to be seen. */
static int others(void) {
	int ran = 0;
	long got, fd = sys_open("/proc", O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return 0;
	while ((got = sys_getdents64((int)fd, entries, sizeof(entries))) > 0) {
		for (char *e = entries; e < entries + got;) {
			u16 len; /* struct linux_dirent64: ino, off, reclen, type, name */
			i64 pid = text_num(e + 19, 1 << 30);
			memcpy(&len, e + 16, sizeof(len));
			e += len;
			if (pid > 1)
				ran += outlive((int)pid);
		}
	}
	sys_close((int)fd);
	return ran;
}

void verb_init(i64 start) {
	sigset set = SIGBIT(SIGTERM) | SIGBIT(SIGINT) | SIGBIT(SIGPWR) | SIGBIT(SIGCHLD);
	long r;
	/* It signals everybody whom it can see. */
	if (sys_getpid() != 1)
		complain(STATUS_USAGE, "init: this is for PID 1 of a container only", 0);
	expect(set);

	out.fd = 1; /* the console; whether anybody reads it is not our concern */
	out_text(&out, "plimsoll 1 init first ");
	out_num(&out, start);
	out_text(&out, "\n");
	out_flush(&out);

	do {
		r = sys_sigtimedwait(&set, NULL);
		if (r == SIGCHLD)
			reap_all();
		else if (r < 0 && r != -EINTR && r != -EAGAIN)
			complain(STATUS_SYSTEM, "init: waiting for a signal", r);
	} while (r != SIGTERM && r != SIGINT && r != SIGPWR);

	sys_kill(-1, SIGTERM);
	while (others() > 0)
		;
	sys_exit(0);
}
