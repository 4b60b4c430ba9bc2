/* task_say.c: the task's own lines.
 *
 * Each but the first begins with a line end of its own, since what the
 * workload has printed before it may have none; whoever reads takes that one
 * away again. Each goes out in one write, which a pipe keeps in one piece.
 *
 * The word can be read in our arguments by whoever looks, a sampler or the
 * workload. So the lines that come once a step has begun also bear a random
 * mark, which is told before it. */
#include "report.h"
#include "task.h"
#include "verbs.h"
#include "small.h"

static struct out out;
static const char *word;
static char mark[33];

static void say(void) {
	out_flush(&out);
	if (!out.err)
		return;
	/* Nobody hears us any more. Our children die with us, theirs do not. */
	struct house h = {0, 0, 0, 0, (int)sys_getpid()};
	if (task_children())
		strays_kill(&h, NULL, 0);
	sys_exit(STATUS_IO);
}

static void head(void) {
	out_text(&out, "plimsoll 1 ");
	out_value(&out, word, text_len(word));
}

/* line begins a line with the mark. */
static void line(void) {
	out_text(&out, "\n");
	head();
	out_text(&out, "-");
	out_text(&out, mark);
}

static void make_mark(void) {
	static const char digits[] = "0123456789abcdef";
	u8 random[16];
	long r = sys_getrandom(random, sizeof(random));
	if (r != sizeof(random))
		complain(STATUS_SYSTEM, "task: getrandom", r < 0 ? r : -EIO);
	for (usize i = 0; i < sizeof(random); i++) {
		mark[2 * i] = digits[random[i] >> 4];
		mark[2 * i + 1] = digits[random[i] & 15];
	}
}

static void field(const char *name, i64 v) {
	out_text(&out, name);
	out_num(&out, v);
}

void task_first(const char *w, i64 start, int with_report) {
	word = w;
	out.fd = 1;
	head();
	field(" first ", start);
	out_text(&out, "\n");
	say();
	if (with_report) {
		report(&out);
		say();
	}
	make_mark();
	out_text(&out, "\n");
	head();
	out_text(&out, " mark ");
	out_text(&out, mark);
	out_text(&out, "\n");
	say();
}

static void step(u32 i) {
	line();
	field(" step ", i);
}

void task_begin(u32 i, const struct task_step *s, i64 at) {
	step(i);
	field(" begin ", at);
	out_text(&out, " ");
	out_text(&out, task_kinds[s->kind]);
	out_text(&out, "\n");
	say();
}

static i64 ns(struct __kernel_old_timeval v) { return (i64)v.tv_sec * 1000000000 + (i64)v.tv_usec * 1000; }

void task_end(u32 i, const struct task_step *s, i64 at, const struct rusage *ru) {
	step(i);
	field(" end ", at);
	field(" status ", s->status);
	field(" errno ", s->err);
	field(" spawn ", s->spawn);
	field(" user ", ns(ru->ru_utime));
	field(" system ", ns(ru->ru_stime));
	field(" rss ", (i64)ru->ru_maxrss * 1024);
	field(" switches ", ru->ru_nvcsw);
	field(" ", ru->ru_nivcsw);
	out_text(&out, "\n");
	say();
}

void task_ready(i64 at) {
	line();
	field(" ready ", at);
	out_text(&out, "\n");
	say();
}

void task_binary(const char *hex, long err) {
	line();
	if (err < 0) {
		field(" binary error ", -err);
	} else {
		out_text(&out, " binary ");
		out_text(&out, hex);
	}
	out_text(&out, "\n");
	say();
}

void task_done(i64 at) {
	line();
	field(" done ", at);
	out_text(&out, "\n");
	say();
}

#if defined(__clang__)
#pragma clang attribute pop
#endif
