/* task.c: the steps of a workload, one after the other, inside one container.
 *
 * Servers and everything else that was started are ended here too, whether we
 * are PID 1 or not: then orphans come to us as to a subreaper. */
#include "task.h"
#include "verbs.h"
#include "small.h"

static struct task task;

static void expect(const char *what, long r) {
	if (r < 0)
		complain(STATUS_SYSTEM, what, r);
}

/* streams opens what the steps get: no input, our output, our errors. */
static void streams(struct task *t) {
	int ends[2];
	long r;
	do { /* whoever started us may have left standard streams closed */
		r = sys_open("/dev/null", O_RDWR);
	} while (r >= 0 && r < 3);
	if (r < 0) { /* no /dev in here: a pipe that nobody writes to is as empty */
		expect("task: pipe", sys_pipe(ends));
		sys_close(ends[1]);
		r = sys_fcntl(ends[0], PROBE_F_DUPFD_CLOEXEC, 10);
		expect("task: dup", r);
		sys_close(ends[0]);
	}
	t->in = (int)r;
	r = sys_fcntl(1, PROBE_F_DUPFD_CLOEXEC, 10);
	if (r < 0)
		complain(STATUS_IO, "task: standard output", r);
	t->out = (int)r;
	r = sys_fcntl(2, PROBE_F_DUPFD_CLOEXEC, 10);
	expect("task: standard error", r);
	t->err = (int)r;
}

static void failed(struct task *t, const struct task_step *s) {
	if (t->failed || s->status == s->want || s->kind == CLEANUP)
		return;
	t->failed = 1;
	t->status = s->status < 0 ? STATUS_NO_EXEC : s->status ? s->status : 1;
}

static void program(struct task *t, u32 i) {
	struct task_step *s = &t->steps[i];
	task_start(t, i);
	if (s->kind == SERVE && s->pid)
		return;
	t->running = s->kind == CLEANUP ? -1 : (int)i;
	while (!s->ended)
		task_pump(t, 0);
	t->running = -1;
	failed(t, s);
	if (s->kind == MAIN && t->hash && s->program) {
		static char hex[65];
		task_binary(hex, sha256_file(s->program, hex));
	}
}

static void waiting(struct task *t, u32 i) {
	static const struct rusage none;
	struct task_step *s = &t->steps[i];
	long r;
	s->begun = 1;
	s->spawn = now();
	task_begin(i, s, s->spawn);
	r = s->kind == PORT ? task_port(t, s->port) : task_file(t, s->file);
	s->ended = 1;
	s->status = r < 0 ? -1 : 0;
	s->err = (int)-r;
	task_end(i, s, now(), &none);
	if (r != -EINTR)
		failed(t, s);
}

static void stay(struct task *t, u32 i) {
	static const struct rusage none;
	struct task_step *s = &t->steps[i];
	s->begun = 1;
	s->spawn = now();
	task_begin(i, s, s->spawn);
	task_ready(now());
	while (!t->stopped && !t->failed)
		task_pump(t, 0);
	s->ended = 1;
	task_end(i, s, now(), &none);
}

void verb_task(i64 start, char **argv, char **env) {
	struct task *t = &task;
	const char *wrong;
	const char *word = argv[0];
	u32 i;
	int cut;

	if (!word || !*word || text_len(word) > TASK_WORD)
		complain(STATUS_USAGE, "usage: task WORD [--report] [--hash] [--dir DIR] STEP...", 0);
	wrong = task_parse(t, argv + 1);
	if (wrong)
		complain(STATUS_USAGE, wrong, 0);
	t->env = env;
	t->pid = (int)sys_getpid();
	t->running = -1;
	task_signals();
	task_first(word, start, t->report);
	expect("task: subreaper", sys_prctl(PROBE_PR_SET_CHILD_SUBREAPER, 1));
	streams(t);
	if (t->dir) {
		expect("task: making the working directory", task_mkdirs(t->dir));
		expect("task: entering the working directory", sys_chdir(t->dir));
	}

	for (i = 0; i < t->nsteps; i++) {
		int kind = t->steps[i].kind;
		if (kind == CLEANUP)
			continue;
		task_pump(t, 1); /* what is there already */
		if (t->failed || t->stopped)
			break;
		if (kind == STAY)
			stay(t, i);
		else if (kind == PORT || kind == FILE_THERE)
			waiting(t, i);
		else
			program(t, i);
	}
	cut = t->stopped && !t->failed;
	for (; cut && i < t->nsteps; i++)
		cut = t->steps[i].kind == CLEANUP;
	task_end_all(t);
	for (u32 k = 0; k < t->nsteps; k++)
		if (t->steps[k].kind == CLEANUP)
			program(t, k);
	task_end_all(t);
	if (!cut && t->stopped && !t->failed)
		t->status = 128 + SIGTERM; /* steps were left out */
	task_done(now());
	if (task_children())
		complain(STATUS_SYSTEM, "task: processes that were started here can't be ended", 0);
	sys_exit(t->status);
}

#if defined(__clang__)
#pragma clang attribute pop
#endif
