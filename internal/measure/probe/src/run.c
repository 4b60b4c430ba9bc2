/* run.c: one job, from its first command to its result.
 *
 * One loop: start what may start, sleep in ppoll, stamp once right after it,
 * and only then look at what has happened. */
#include "run.h"
#include "text.h"

static struct job_run run;
static char pool[MAX_POOL];

/* open_fds makes the child's 0, 1 and 2 and keeps our ends. */
static long open_fds(const struct command *cmd, struct course *c, int fds[3]) {
	int p[2];
	long r;
	fds[0] = run.h->null;
	if (cmd->flags & CMD_STDIN_PIPE) {
		r = sys_pipe(p);
		if (r < 0)
			return r;
		fds[0] = p[0];
		c->stdin_fd = p[1];
	}
	r = sys_pipe(p);
	if (r < 0)
		return r;
	fds[1] = p[1];
	c->out.fd = p[0];
	r = sys_pipe(p);
	if (r < 0)
		return r;
	fds[2] = p[1];
	c->err.fd = p[0];
	return 0;
}

static void start_process(u32 i) {
	const struct command *cmd = &run.commands[i];
	struct course *c = &run.o->courses[i];
	int fds[3] = {-1, -1, -1};
	long r = open_fds(cmd, c, fds);
	if (r < 0) {
		c->birth.where = "pipe";
		c->birth.err = (i32)-r;
		c->spawn = c->exec = now();
	} else {
		r = spawn(cmd, c, fds, run.h->pid);
	}
	for (int k = 0; k < 3; k++)
		if (fds[k] >= 0 && fds[k] != run.h->null)
			sys_close(fds[k]);
	if (r >= 0) {
		c->pid = (int)r;
		c->state = RUNNING;
		c->failed = c->birth.err != 0; /* it is ending; the wait will tell */
		return;
	}
	c->state = ENDED;
	c->failed = 1;
	c->exit = c->exec;
}

/* start_signal sends to the watched container, or else to the command that
 * stands for it. */
static void start_signal(u32 i) {
	struct course *c = &run.o->courses[i];
	int pid = run.o->courses[container_command(&run)].pid;
	long r = -ESRCH;
	c->spawn = now();
	if (run.container >= 0)
		r = sys_pidfd_send_signal(run.container, (int)run.commands[i].signal);
	else if (!run.watched && pid)
		r = sys_kill(pid, (int)run.commands[i].signal);
	c->exec = c->exit = now();
	c->state = ENDED;
	if (r < 0) {
		c->birth.where = "kill";
		c->birth.err = (i32)-r;
		c->failed = 1;
	}
}

static void start(u32 i) {
	struct course *c = &run.o->courses[i];
	if (run.commands[i].argc) {
		start_process(i);
	} else if (run.commands[i].signal) {
		start_signal(i);
	} else {
		c->spawn = c->exec = c->exit = now();
		c->state = ENDED;
	}
}

/* advance starts and skips commands until one must wait. */
static void advance(void) {
	while (run.next < run.job->ncommands) {
		int go = may_start(&run, run.next);
		if (go == START)
			start(run.next);
		else if (go == SKIP)
			run.o->courses[run.next].state = SKIPPED;
		else
			return;
		run.next++;
	}
}

static int all_ended(void) {
	for (u32 i = 0; i < run.job->ncommands; i++)
		if (run.o->courses[i].state < ENDED)
			return 0;
	return 1;
}

static int failed(void) {
	for (u32 i = 0; i < run.job->ncommands; i++)
		if (run.o->courses[i].state == ENDED && run.o->courses[i].failed)
			return 1;
	return 0;
}

static void kill_container(void) {
	if (run.container >= 0 && sys_pidfd_send_signal(run.container, SIGKILL) == 0)
		run.o->killed = 1;
}

/* strike ends a phase whose time is over: everything that runs is killed. */
static void strike(i64 at) {
	for (u32 i = 0; i < run.job->ncommands; i++) {
		struct course *c = &run.o->courses[i];
		if (c->pid && sys_kill(-c->pid, SIGKILL) < 0)
			sys_kill(c->pid, SIGKILL); /* it did not get as far as its own group */
	}
	kill_container();
	run.held = 0;
	run.phase++;
	run.deadline = at + (run.phase == CLEANUP ? run.job->cleanup : 2000000000LL);
}

/* request looks at what came from the other side during the job; 0, or -1
 * where it has gone. */
static int request(i64 at) {
	u8 head[FRAME_HEADER];
	u64 seq = 0;
	usize length = 0;
	long n = sys_read(run.h->requests, head, sizeof(head));
	if (n == -EINTR)
		return 0;
	if (n != sizeof(head))
		return -1;
	for (int i = 0; i < 8; i++)
		seq |= (u64)head[8 + i] << (8 * i);
	for (int i = 0; i < 4; i++)
		length |= (usize)head[i] << (8 * i);
	if (head[6] == FRAME_LOOK || head[6] == FRAME_END)
		return held_frame(&run, head[6], length, at);
	if (head[6] != FRAME_ABORT)
		return -1;
	if (seq == run.seq && run.phase == NORMAL) {
		run.o->aborted = 1;
		strike(at);
	}
	return 0;
}

/* look waits for something to happen and deals with it; 0, or -1 where the
 * other side has gone. */
static int look(void) {
	struct pollfd fds[3 + 2 * MAX_COMMANDS];
	struct course *who[COUNT(fds)];
	usize n = 3;
	i64 at = now(), until = wake_at(&run);
	struct __kernel_timespec t = {0, 0};
	fds[0] = (struct pollfd){run.h->requests, POLLIN, 0};
	fds[1] = (struct pollfd){run.h->signals, POLLIN, 0};
	fds[2] = (struct pollfd){run.container, POLLIN, 0}; /* -1 is ignored */
	for (u32 i = 0; i < run.next; i++) {
		struct course *c = &run.o->courses[i];
		struct stream *s[2] = {&c->out, &c->err};
		for (int k = 0; k < 2; k++) {
			if (s[k]->fd < 0)
				continue;
			who[n] = c;
			fds[n++] = (struct pollfd){s[k]->fd, POLLIN, 0};
		}
	}
	if (until > at) {
		t.tv_sec = (until - at) / 1000000000;
		t.tv_nsec = (until - at) % 1000000000;
	}
	if (sys_ppoll(fds, n, &t) < 0)
		for (usize i = 0; i < n; i++)
			fds[i].revents = 0;
	at = now();
	for (usize i = 3; i < n; i++)
		if ((fds[i].revents & POLLIN) && fds[i].fd == who[i]->out.fd && !who[i]->first)
			stream_first(&run, who[i], at);
	if (fds[2].revents)
		container_ended(&run, at);
	if (fds[1].revents && reap(&run, at) < 0)
		return -1;
	for (usize i = 3; i < n; i++)
		if (fds[i].revents)
			stream_read(&run, who[i], fds[i].fd == who[i]->out.fd ? &who[i]->out : &who[i]->err, at);
	if (fds[0].revents && request(at) < 0)
		return -1;
	if (at >= run.deadline) {
		if (run.phase == NORMAL)
			run.o->timed_out = 1;
		strike(at);
	}
	return 0;
}

void run_course(struct job_run *r, u32 i) {
	struct course *c = &r->o->courses[i];
	u32 limit = r->job->output_limit;
	memset(c, 0, sizeof(*c));
	c->stdin_fd = c->out.fd = c->err.fd = -1;
	c->rounds = r->job->commands[i].calibrate;
	c->out.data = pool + (usize)limit * 2 * i;
	c->err.data = c->out.data + limit;
}

static void begin(const struct house *h, struct job *j, struct outcome *o, u64 seq) {
	o->ready = o->container_exit = 0;
	o->container_status = o->container_reaped = o->container_late = 0;
	o->timed_out = o->aborted = o->killed = o->over = 0;
	o->nexchanges = o->nstrays = 0;
	run.h = h;
	run.job = j;
	run.commands = j->commands;
	run.o = o;
	run.seq = seq;
	run.next = 0;
	run.phase = NORMAL;
	run.held = (j->flags & JOB_HELD) != 0;
	run.told = 0;
	run.container = -1;
	run.watched = run.container_pid = 0;
	run.nreaped = 0;
	run.deadline = now() + j->limit;
	for (u32 i = 0; i < j->ncommands; i++)
		run_course(&run, i);
}

/* end closes everything, after a last look into the pipes: a container that
 * outlives its command may hold them open for ever. */
static void end(void) {
	for (u32 i = 0; i < run.job->ncommands; i++) {
		struct course *c = &run.o->courses[i];
		stream_drain(&run, c, &c->out);
		stream_drain(&run, c, &c->err);
		if (c->stdin_fd >= 0)
			sys_close(c->stdin_fd);
		c->stdin_fd = -1;
	}
	if (run.container >= 0)
		sys_close(run.container);
	run.container = -1;
}

int run_job(const struct house *h, struct job *j, struct outcome *o, u64 seq) {
	static int old[MAX_STRAYS];
	static usize nold;
	int over;
	long n;
	begin(h, j, o, seq);
	for (;;) {
		advance();
		over = o->over = all_ended() && run.container < 0;
		if (over && !run.held)
			break;
		if (all_ended() && run.container >= 0 && failed() && !run.o->killed)
			kill_container();
		if (run.phase > LAST)
			break;
		if (run.held && held_tell(&run, over) < 0)
			return -1;
		if (look() < 0)
			return -1;
	}
	end();
	if (children_left(&run)) {
		if (o->timed_out || o->aborted)
			strays_kill(h, old, nold);
		n = strays_list(h, o->strays, MAX_STRAYS);
		o->nstrays = n > 0 ? (u32)n : 0;
	}
	memcpy(old, o->strays, o->nstrays * sizeof(old[0]));
	nold = o->nstrays;
	return 0;
}
