/* groups.c: a control group below the process's own, in the first hierarchy
 * that lets us make one. Whoever kills the worker kills no guard: it sees the
 * end of a pipe, removes the group and ends. */
#include "report.h"
#include "mechanism.h"
#include "verbs.h"
#include "small.h"

#define REMOVE_DIRECTORY 0x200 /* AT_REMOVEDIR */

static struct lines file;
static char own[4096], ours[4200], own_procs[4200], our_procs[4300];

static int guard, pipe_of_guard[2];

/* digits appends a number. */
static int digits(char *to, usize n, i64 v) {
	char text[24], *p = text + sizeof(text);
	*--p = 0;
	do {
		*--p = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	return text_join(to + text_len(to), n - text_len(to), "", p);
}

static int append(char *to, usize n, const char *a) {
	return text_join(to + text_len(to), n - text_len(to), "", a);
}

/* make_one makes the group once, to see that it can be. */
static long make_one(int index) {
	if (text_join(ours, sizeof(ours), own, "/plimsoll-mechanism-") < 0 ||
	    digits(ours, sizeof(ours), sys_getpid()) < 0 || append(ours, sizeof(ours), "-") < 0 ||
	    digits(ours, sizeof(ours), index) < 0 || text_join(own_procs, sizeof(own_procs), own, "/cgroup.procs") < 0 ||
	    text_join(our_procs, sizeof(our_procs), ours, "/cgroup.procs") < 0)
		return -ENAMETOOLONG;
	long r = sys_access(own_procs, PROBE_F_OK);
	return r < 0 ? r : sys_mkdir(ours, 0755);
}

static long find(int index, const char **what) {
	long r = mechanism_whole(index, what);
	*what = "no hierarchy of control groups lets us make one";
	if ((r = lines_open(&file, "/proc/self/cgroup")) < 0)
		return r;
	while (lines_next(&file)) { /* "ID:controllers:path" */
		char *c = file.line, *g;
		while (*c && *c != ':')
			c++;
		for (g = *c ? ++c : c; *g && *g != ':'; g++)
			;
		if (!*g)
			continue;
		*g++ = 0;
		if (text_eq(g, "/"))
			g++;
		if (text_join(own, sizeof(own), *c ? "/sys/fs/cgroup/" : "/sys/fs/cgroup", c) < 0 ||
		    append(own, sizeof(own), g) < 0)
			continue;
		r = make_one(index);
		if (r >= 0)
			break;
	}
	lines_close(&file);
	return r;
}

static int watch(void *unused) {
	struct ksigaction ignore = {.handler = PROBE_SIG_IGN};
	char byte;
	(void)unused;
	SYS(setsid, 0, 0, 0, 0, 0, 0);
	sys_sigaction(SIGTERM, &ignore);
	sys_sigaction(SIGINT, &ignore);
	sys_close(pipe_of_guard[1]);
	while (sys_read(pipe_of_guard[0], &byte, 1) == -EINTR)
		;
	/* The last child may still be in it. */
	for (int i = 0; i < 200 && SYS(unlinkat, PROBE_AT_FDCWD, ours, REMOVE_DIRECTORY, 0, 0, 0) == -EBUSY; i++)
		sleep_until(now() + 10000000);
	return 0;
}

/* guarded leaves the group there, if it is to be kept. */
static long guarded(int index, const char **what, int keep) {
	long r = find(index, what);
	if (r < 0)
		return r;
	*what = "a guard for the control group";
	if ((r = sys_pipe(pipe_of_guard)) >= 0)
		r = spawn_call(__NR_clone, SIGCHLD, 0, watch, NULL);
	guard = (int)r;
	sys_close(pipe_of_guard[0]);
	if (r < 0 || !keep)
		SYS(unlinkat, PROBE_AT_FDCWD, ours, REMOVE_DIRECTORY, 0, 0, 0);
	return r;
}

long group_reuse(int index, const char **what) { return guarded(index, what, 1); }

long group_find(int index, const char **what) { return guarded(index, what, 0); }

static long enter(const char *procs) {
	long fd = sys_open(procs, O_WRONLY), r;
	if (fd < 0)
		return fd;
	r = sys_write((int)fd, "0", 1); /* the writer itself */
	sys_close((int)fd);
	return r;
}

long group_enter(const char **what) {
	*what = "entering the control group";
	return enter(our_procs);
}

long group_leave(const char **what) {
	*what = "leaving the control group";
	return enter(own_procs);
}

long group_make(const char **what) {
	*what = "making a control group";
	long r = sys_mkdir(ours, 0755);
	return r < 0 ? r : group_enter(what);
}

long group_undo(const char **what) {
	long r = group_leave(what);
	if (r < 0)
		return r;
	*what = "removing the control group";
	return SYS(unlinkat, PROBE_AT_FDCWD, ours, REMOVE_DIRECTORY, 0, 0, 0);
}

/* The guard removes it. */
void group_over(int index) {
	(void)index;
	sys_close(pipe_of_guard[1]);
	while (guard > 0 && sys_wait4(guard, NULL, 0, NULL) == -EINTR)
		;
}

#if defined(__clang__)
#pragma clang attribute pop
#endif
