/* task_wait.c: what the task waits for: signals, the ends of children, ports,
 * files; and how it ends what still runs. */
#include "report.h"
#include "task.h"
#include "verbs.h"
#include "small.h"

static struct lines file;
static const sigset awaited = SIGBIT(SIGTERM) | SIGBIT(SIGCHLD);

static void never(int sig) { (void)sig; }

/* task_signals: blocked signals are kept until they are waited for, by PID 1
 * too; handlers, which are never run, convince kernels other than Linux and
 * undo what was inherited as ignored. SIGPIPE is blocked so that a reader who
 * goes away is an error that we see. */
void task_signals(void) {
	sigset set = awaited | SIGBIT(SIGPIPE);
	struct ksigaction act = {never, 0, NULL, 0};
	long r = sys_sigprocmask(SIG_BLOCK, &set);
	if (r >= 0)
		r = sys_sigaction(SIGTERM, &act);
	if (r >= 0)
		r = sys_sigaction(SIGCHLD, &act);
	if (r >= 0)
		r = sys_sigaction(SIGPIPE, &act);
	if (r < 0)
		complain(STATUS_SYSTEM, "task: expecting signals", r);
}

static void reap(struct task *t, i64 at) {
	struct rusage ru;
	int status;
	long pid;
	while ((pid = sys_wait4(-1, &status, PROBE_WNOHANG, &ru)) > 0) {
		for (u32 i = 0; i < t->nsteps; i++) {
			struct task_step *s = &t->steps[i];
			if (s->pid != pid)
				continue;
			s->pid = 0;
			s->ended = 1;
			s->status = status & 0x7f ? 128 + (status & 0x7f) : (status >> 8) & 0xff;
			task_end(i, s, at, &ru);
			/* A server that ends as it should has gone into the background. */
			if (s->kind == SERVE && !t->ending && !t->failed && s->status != s->want) {
				t->failed = 1;
				t->status = s->status ? s->status : 1;
			}
			break;
		}
	}
}

/* task_pump with a time that has passed takes what is there already. */
void task_pump(struct task *t, i64 until) {
	struct __kernel_timespec ts, *limit = NULL;
	i64 at;
	long r;
	if (until) {
		i64 left = until - now();
		if (left < 0)
			left = 0;
		ts.tv_sec = left / 1000000000;
		ts.tv_nsec = left % 1000000000;
		limit = &ts;
	}
	r = sys_sigtimedwait(&awaited, limit);
	at = now();
	if (r < 0 && r != -EINTR && r != -EAGAIN)
		complain(STATUS_SYSTEM, "task: waiting for a signal", r);
	if (r == SIGTERM) {
		t->stopped = 1;
		if (t->running >= 0 && t->steps[t->running].pid)
			sys_kill(-t->steps[t->running].pid, SIGTERM);
	}
	reap(t, at);
}

static u32 hex(const char **s) {
	u32 v = 0;
	for (;; (*s)++) {
		char c = **s;
		if (c >= '0' && c <= '9')
			v = v << 4 | (u32)(c - '0');
		else if (c >= 'A' && c <= 'F')
			v = v << 4 | (u32)(c - 'A' + 10);
		else
			return v;
	}
}

/* listens reads one line of /proc/net/tcp: "sl: address:port address:port
 * state", all but sl in hexadecimal. */
static int listens(const char *s, int port) {
	enum { LISTEN = 0x0a };
	u32 at;
	while (*s && *s != ':')
		s++;
	if (*s)
		s++;
	while (*s == ' ')
		s++;
	hex(&s);
	if (*s++ != ':')
		return 0;
	at = hex(&s);
	if (*s++ != ' ')
		return 0;
	hex(&s);
	if (*s++ != ':')
		return 0;
	hex(&s);
	if (*s++ != ' ')
		return 0;
	return hex(&s) == LISTEN && at == (u32)port;
}

/* table: 1 where somebody listens, 0 where nobody does, -errno. */
static long table(const char *path, int port) {
	long r = lines_open(&file, path);
	if (r < 0)
		return r;
	r = 0;
	while (!r && lines_next(&file))
		r = listens(file.line, port);
	lines_close(&file);
	return r;
}

static long answers(int port) {
	struct {
		u16 family;
		u8 port[2], address[4], zero[8];
	} at = {PROBE_AF_INET, {(u8)(port >> 8), (u8)port}, {127, 0, 0, 1}, {0}};
	long fd = sys_socket(PROBE_AF_INET, PROBE_SOCK_STREAM | PROBE_SOCK_CLOEXEC), r;
	if (fd < 0)
		return fd;
	r = sys_connect((int)fd, &at, sizeof(at));
	sys_close((int)fd);
	return r == 0;
}

static long port_is_open(const void *arg, int *told) {
	int port = *(const int *)arg;
	long four = table("/proc/net/tcp", port), six = four == 1 ? 1 : table("/proc/net/tcp6", port);
	if (four >= 0 || six >= 0)
		return four == 1 || six == 1;
	if (!*told) {
		static const char text[] = "plimsoll-probe: task: no /proc/net/tcp in here: the port is tried by connecting\n";
		write_all(2, text, sizeof(text) - 1);
		*told = 1;
	}
	return answers(port);
}

static long file_is_there(const void *arg, int *told) {
	(void)told;
	return sys_access(arg, PROBE_F_OK) == 0;
}

static long await(struct task *t, long (*there)(const void *, int *), const void *arg) {
	i64 until = now() + (i64)TASK_WAIT_S * 1000000000;
	int told = 0;
	for (;;) {
		long r = there(arg, &told);
		if (r)
			return r < 0 ? r : 0;
		if (now() >= until)
			return -ETIMEDOUT;
		task_pump(t, now() + TASK_POLL_NS);
		if (t->failed)
			return -ESRCH;
		if (t->stopped)
			return -EINTR;
	}
}

long task_port(struct task *t, int port) { return await(t, port_is_open, &port); }
long task_file(struct task *t, const char *path) { return await(t, file_is_there, path); }

int task_children(void) {
	struct rusage ru;
	int status;
	long pid;
	while ((pid = sys_wait4(-1, &status, PROBE_WNOHANG, &ru)) > 0)
		;
	return pid == 0;
}

/* ask sends a signal to the servers' process groups and to what has been
 * orphaned, as a server that goes into the background is. */
static void ask(const struct task *t, int sig) {
	static int pids[MAX_STRAYS];
	struct house h = {0, 0, 0, 0, t->pid};
	long n = strays_list(&h, pids, COUNT(pids)); /* none where /proc is missing */
	for (u32 i = 0; i < t->nsteps; i++)
		if (t->steps[i].pid)
			sys_kill(-t->steps[i].pid, sig);
	for (long k = 0; k < n; k++) {
		int ours = 0;
		for (u32 i = 0; i < t->nsteps; i++)
			ours |= t->steps[i].pid == pids[k];
		if (!ours)
			sys_kill(pids[k], sig);
	}
}

/* childless looks without collecting more than the pump does, which tells
 * the ends of servers. */
static int childless(struct task *t) {
	task_pump(t, 1);
	return sys_childless() == -ECHILD;
}

void task_end_all(struct task *t) {
	i64 until = now() + (i64)TASK_GRACE_S * 1000000000;
	t->ending = 1;
	if (childless(t))
		return;
	ask(t, SIGTERM);
	while (!childless(t) && now() < until)
		task_pump(t, until);
	/* What is killed leaves children of its own to us. */
	until = now() + (i64)TASK_GRACE_S * 1000000000;
	while (!childless(t) && now() < until) {
		ask(t, SIGKILL);
		task_pump(t, now() + TASK_POLL_NS);
	}
}

#if defined(__clang__)
#pragma clang attribute pop
#endif
