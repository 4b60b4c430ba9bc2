/* strays.c: children that are no commands of ours. The launcher is a child
 * subreaper: what daemonises under it comes to it. */
#include "job.h"
#include "text.h"

static char entries[16384], text[512];

/* parent_of reads the parent of a process: the fourth field of its stat,
 * behind a name in parentheses that may hold anything. */
static i64 parent_of(const char *pid) {
	char path[64], *p, *end;
	if (text_join(path, sizeof(path), "/proc/", pid) < 0)
		return -1;
	p = path + text_len(path);
	if (text_join(p, sizeof(path) - (usize)(p - path), "", "/stat") < 0)
		return -1;
	if (read_file(path, text, sizeof(text)) < 0)
		return -1;
	p = NULL;
	for (char *q = text; *q; q++)
		if (*q == ')')
			p = q;
	if (!p || p[1] != ' ' || !p[2] || p[3] != ' ')
		return -1;
	p += 4;
	for (end = p; *end && *end != ' '; end++)
		;
	*end = 0;
	return text_num(p, 1 << 30);
}

/* /proc/PID/task/TID/children would say it at once, but many kernels are
 * built without it. */
long strays_list(const struct house *h, int *pids, usize n) {
	usize found = 0;
	long got, fd = sys_open("/proc", O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return fd;
	while ((got = sys_getdents64((int)fd, entries, sizeof(entries))) > 0) {
		for (char *e = entries; e < entries + got;) {
			u16 len; /* struct linux_dirent64: ino, off, reclen, type, name */
			const char *name = e + 19;
			i64 pid = text_num(name, 1 << 30);
			memcpy(&len, e + 16, sizeof(len));
			e += len;
			if (pid > 0 && found < n && parent_of(name) == h->pid)
				pids[found++] = (int)pid;
		}
	}
	sys_close((int)fd);
	return got < 0 ? got : (long)found;
}

static int among(int pid, const int *list, usize n) {
	for (usize i = 0; i < n; i++)
		if (list[i] == pid)
			return 1;
	return 0;
}

void strays_kill(const struct house *h, const int *keep, usize nkeep) {
	static int pids[MAX_STRAYS];
	i64 until = now() + 2000000000;
	for (;;) {
		struct __kernel_timespec t = {0, 1000000};
		usize killed = 0;
		long n;
		run_reap();
		n = strays_list(h, pids, COUNT(pids));
		for (long i = 0; i < n; i++) {
			if (among(pids[i], keep, nkeep))
				continue;
			if (sys_kill(pids[i], SIGKILL) == 0)
				killed++;
		}
		if (killed == 0 || now() >= until)
			return;
		/* The dead must be reaped, and their children come to us now. */
		sys_clock_nanosleep(PROBE_CLOCK_MONOTONIC, 0, &t);
	}
}
