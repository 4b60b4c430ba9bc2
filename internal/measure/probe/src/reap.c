/* reap.c: the ends of children: our commands, the container, and processes
 * that came to us because their parent has gone. */
#include "run.h"
#include "text.h"

static const struct reaped *find_reaped(const struct job_run *r, int pid) {
	u32 n = r->nreaped < COUNT(r->reaped) ? r->nreaped : COUNT(r->reaped);
	for (u32 i = 0; i < n; i++)
		if (r->reaped[i].pid == pid)
			return &r->reaped[i];
	return NULL;
}

static void container_reaped(struct job_run *r, int status) {
	r->o->container_status = status;
	r->o->container_reaped = 1;
	r->container_pid = 0;
}

/* watch reads the pid file of a command that has ended and begins to watch
 * the process in it. */
static long watch(struct job_run *r, const char *file, i64 at) {
	char text[32];
	const struct reaped *gone;
	i64 pid;
	long n = read_file(file, text, sizeof(text));
	if (n < 0)
		return n;
	while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == ' '))
		text[--n] = 0;
	pid = text_num(text, 1 << 30);
	if (pid <= 0)
		return -EINVAL;
	r->watched = 1;
	gone = find_reaped(r, (int)pid);
	if (gone) {
		r->o->container_exit = gone->at;
		container_reaped(r, gone->status);
		return 0;
	}
	n = sys_pidfd_open((int)pid);
	if (n == -ESRCH) { /* ended, and somebody else has reaped it */
		r->o->container_exit = at;
		r->o->container_late = 1;
		return 0;
	}
	if (n < 0)
		return n;
	r->container = (int)n;
	r->container_pid = (int)pid;
	return 0;
}

static void command_ended(struct job_run *r, u32 i, int status, i64 at) {
	struct course *c = &r->o->courses[i];
	const char *file = r->commands[i].pidfile;
	c->pid = 0;
	c->state = ENDED;
	c->exit = at;
	c->status = status;
	if (status != 0)
		c->failed = 1;
	if (*file && !r->watched && !c->failed) {
		long e = watch(r, file, at);
		if (e < 0) {
			c->birth.where = "pid file";
			c->birth.err = (i32)-e;
			c->failed = 1;
		}
	}
}

void container_ended(struct job_run *r, i64 at) {
	struct rusage ru;
	int status;
	if (r->container < 0)
		return;
	r->o->container_exit = at;
	sys_close(r->container);
	r->container = -1;
	/* It may not be our child (then: ECHILD), or become it only when its
	 * parent, the runtime, has ended. */
	if (r->container_pid && sys_wait4(r->container_pid, &status, PROBE_WNOHANG, &ru) == r->container_pid)
		container_reaped(r, status);
}

static void one(struct job_run *r, int pid, int status, const struct rusage *ru, i64 at) {
	for (u32 i = 0; i < r->next; i++) {
		if (r->o->courses[i].pid == pid) {
			r->o->courses[i].usage = *ru;
			command_ended(r, i, status, at);
			return;
		}
	}
	if (r->container_pid == pid) {
		if (!r->o->container_exit)
			container_ended(r, at);
		container_reaped(r, status);
		return;
	}
	r->reaped[r->nreaped++ % COUNT(r->reaped)] = (struct reaped){pid, status, at};
}

/* signals empties the signalfd; 1 where a SIGTERM was among them. */
static int signals(int fd) {
	u32 info[128 / sizeof(u32)]; /* struct signalfd_siginfo; the signal is its first field */
	int term = 0;
	while (sys_read(fd, info, sizeof(info)) == sizeof(info))
		term |= info[0] == SIGTERM;
	return term;
}

int reap(struct job_run *r, i64 at) {
	struct rusage ru;
	int status, term = signals(r->h->signals);
	for (;;) {
		long pid = sys_wait4(-1, &status, PROBE_WNOHANG, &ru);
		if (pid == -EINTR)
			continue;
		if (pid <= 0)
			break;
		one(r, (int)pid, status, &ru, at);
	}
	return term ? -1 : 0;
}

int children_left(struct job_run *r) {
	struct rusage ru;
	int status;
	long pid;
	while ((pid = sys_wait4(-1, &status, PROBE_WNOHANG, &ru)) > 0)
		one(r, (int)pid, status, &ru, now());
	return pid == 0;
}

void run_reap(void) {
	struct rusage ru;
	int status;
	while (sys_wait4(-1, &status, PROBE_WNOHANG, &ru) > 0)
		;
}
