/* launch.c: the launcher. It serves jobs until its requests end; then it
 * kills what it still holds, and ends. */
#include "job.h"
#include "text.h"
#include "verbs.h"

static struct house house;
static struct job job;
static struct outcome outcome;
static char frame[MAX_FRAME];

static __attribute__((noreturn)) void fail(const char *what, long err) {
	static char text[256];
	(void)err;
	if (text_join(text, sizeof(text), "launcher: ", what) == 0)
		answer_error(&house, text);
	strays_kill(&house, NULL, 0);
	complain(STATUS_SYSTEM, what, err);
}

static long must(const char *what, long r) {
	if (r < 0)
		fail(what, r);
	return r;
}

/* settle moves our descriptors out of the way of a child's 0, 1 and 2, marks
 * everything close-on-exec, and arranges for signals and deaths. Our standard
 * error is a null device that a child may give to another user. */
static void settle(void) {
	struct ksigaction dfl = {PROBE_SIG_DFL, 0, NULL, 0};
	sigset all = ~0ULL, mine = SIGBIT(SIGCHLD) | SIGBIT(SIGTERM);
	house.answers = 1;
	house.pid = (int)sys_getpid();
	house.requests = (int)must("fcntl(requests)", sys_fcntl(0, PROBE_F_DUPFD_CLOEXEC, 10));
	house.answers = (int)must("fcntl(answers)", sys_fcntl(1, PROBE_F_DUPFD_CLOEXEC, 10));
	house.null = (int)must("fcntl(null)", sys_fcntl(2, PROBE_F_DUPFD_CLOEXEC, 10));
	must("dup3", sys_dup3(house.null, 0, 0));
	must("dup3", sys_dup3(house.null, 1, 0));
	/* Older kernels lack it (5.11); then only what we open ourselves is sure to be closed. */
	sys_close_range(3, ~0U, PROBE_CLOSE_RANGE_CLOEXEC);
	must("sigprocmask", sys_sigprocmask(SIG_SETMASK, &all));
	for (int sig = 1; sig <= 64; sig++)
		if (sig != SIGKILL && sig != SIGSTOP)
			sys_sigaction(sig, &dfl); /* a child would inherit what is ignored */
	house.signals = (int)must("signalfd", sys_signalfd(&mine));
	must("prctl(subreaper)", sys_prctl(PROBE_PR_SET_CHILD_SUBREAPER, 1));
	must("prctl(pdeathsig)", sys_prctl(PROBE_PR_SET_PDEATHSIG, SIGTERM));
}

static void join(const char *procs) {
	long fd = sys_open(procs, O_WRONLY), r;
	if (fd < 0)
		fail(procs, fd);
	r = sys_write((int)fd, "0", 1);
	sys_close((int)fd);
	if (r < 0)
		fail(procs, r);
}

static __attribute__((noreturn)) void leave(void) {
	strays_kill(&house, NULL, 0);
	sys_exit(0);
}

/* take reads exactly n bytes; it leaves at the end of the requests. */
static void take(char *p, usize n) {
	while (n) {
		long r = sys_read(house.requests, p, n);
		if (r == -EINTR)
			continue;
		if (r <= 0)
			leave();
		p += r;
		n -= (usize)r;
	}
}

/* idle sleeps until a request is there, and reaps meanwhile. */
static void idle(void) {
	for (;;) {
		u32 info[128 / sizeof(u32)];
		struct pollfd f[2] = {{house.requests, POLLIN, 0}, {house.signals, POLLIN, 0}};
		long r = sys_ppoll(f, 2, NULL);
		if (r < 0 && r != -EINTR)
			fail("ppoll", r);
		if (r > 0 && f[1].revents) {
			while (sys_read(house.signals, info, sizeof(info)) == sizeof(info))
				if (info[0] == SIGTERM)
					leave();
			run_reap();
		}
		if (r > 0 && f[0].revents)
			return;
	}
}

static u64 little(const char *p, usize bytes) {
	u64 v = 0;
	for (usize i = 0; i < bytes; i++)
		v |= (u64)(u8)p[i] << (8 * i);
	return v;
}

static void serve(void) {
	char head[FRAME_HEADER];
	const char *wrong;
	usize n;
	idle();
	take(head, sizeof(head));
	n = little(head, 4);
	if (little(head + 4, 2) != FRAME_VERSION)
		fail("a frame of another version came; the probe and Plimsoll are not of one build", 0);
	if (little(head + 6, 2) == FRAME_ABORT && n == 0)
		return; /* it came too late: that job has ended */
	if ((little(head + 6, 2) == FRAME_LOOK || little(head + 6, 2) == FRAME_END) && n <= sizeof(frame)) {
		take(frame, n); /* as late */
		return;
	}
	if (little(head + 6, 2) != FRAME_JOB || n > sizeof(frame))
		fail("a frame came that is no job, or is too long", 0);
	take(frame, n);
	wrong = decode_job(&job, frame, n);
	if (wrong)
		fail(wrong, 0);
	if (run_job(&house, &job, &outcome, little(head + 8, 8)) < 0)
		leave();
	if (answer_result(&house, little(head + 8, 8), &job, &outcome) < 0)
		leave();
}

void verb_launch(char **argv) {
	settle();
	for (; argv[0]; argv += 2) {
		if (!text_eq(argv[0], "--cgroup") || !argv[1])
			fail("usage: launch [--cgroup PROCS-FILE]...", 0);
		join(argv[1]);
	}
	if (answer_hello(&house) < 0)
		leave();
	for (;;)
		serve();
}
