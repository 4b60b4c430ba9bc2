/* answer.c: frames to the other side. docs/probe.md has the format. */
#include "job.h"
#include "text.h"

static char head[FRAME_HEADER + 512 * 1024]; /* all but the output */
static usize len;

static void put(u64 v, usize bytes) {
	for (usize i = 0; i < bytes; i++)
		head[len++] = (char)(v >> (8 * i));
}

static void put_text(const char *s) {
	usize n = s ? text_len(s) : 0;
	put(n, 4);
	memcpy(head + len, s ? s : "", n);
	len += n;
}

static void begin(u32 kind, u64 seq) {
	len = 4;
	put(FRAME_VERSION, 2);
	put(kind, 2);
	put(seq, 8);
}

/* finish writes the length, which counts what comes behind the header. */
static void finish(usize more) {
	usize all = len;
	len = 0;
	put(all - FRAME_HEADER + more, 4);
	len = all;
}

long answer_hello(const struct house *h) {
	begin(FRAME_HELLO, 0);
	put((u64)h->pid, 4);
	finish(0);
	return write_all(h->answers, head, len);
}

long answer_error(const struct house *h, const char *text) {
	begin(FRAME_ERROR, 0);
	put_text(text);
	finish(0);
	return write_all(h->answers, head, len);
}

static u64 ns(struct __kernel_old_timeval t) { return (u64)t.tv_sec * 1000000000 + (u64)t.tv_usec * 1000; }

static void course(const struct course *c) {
	put((u64)c->spawn, 8);
	put((u64)c->exec, 8);
	put((u64)c->first, 8);
	put((u64)c->exit, 8);
	put(c->state == SKIPPED, 4);
	put((u32)c->birth.err, 4);
	put((u32)c->status, 4);
	put_text(c->birth.err ? c->birth.where : NULL);
	put(ns(c->usage.ru_utime), 8);
	put(ns(c->usage.ru_stime), 8);
	put((u64)c->usage.ru_maxrss * 1024, 8);
	put((u64)(c->out.dropped + c->err.dropped), 8);
	put(c->birth.nsteps, 4);
	for (u32 i = 0; i < c->birth.nsteps; i++) {
		put_text(c->birth.steps[i].name);
		put((u64)c->birth.steps[i].at, 8);
	}
	put(c->out.len, 4);
	put(c->err.len, 4);
}

static long answer(u32 kind, const struct house *h, u64 seq, const struct job *j, const struct outcome *o) {
	usize output = 0;
	long r;
	begin(kind, seq);
	put((u64)o->ready, 8);
	put((u64)o->container_exit, 8);
	put((u32)o->container_status, 4);
	put((u32)(o->container_reaped | o->container_late << 1 | o->timed_out << 2 | o->aborted << 3 | o->killed << 4 |
		  o->over << 5),
	    4);
	put(o->nstrays, 4);
	for (u32 i = 0; i < o->nstrays; i++)
		put((u32)o->strays[i], 4);
	put(o->nexchanges, 4);
	for (u32 i = 0; i < o->nexchanges; i++) {
		put((u64)o->exchanges[i].sent, 8);
		put((u64)o->exchanges[i].inside, 8);
		put((u64)o->exchanges[i].received, 8);
	}
	put(j->ncommands, 4);
	for (u32 i = 0; i < j->ncommands; i++) {
		course(&o->courses[i]);
		output += o->courses[i].out.len + o->courses[i].err.len;
	}
	finish(output);
	if (output <= sizeof(head) - len) { /* one write */
		for (u32 i = 0; i < j->ncommands; i++) {
			const struct course *c = &o->courses[i];
			memcpy(head + len, c->out.data, c->out.len);
			len += c->out.len;
			memcpy(head + len, c->err.data, c->err.len);
			len += c->err.len;
		}
		return write_all(h->answers, head, len);
	}
	r = write_all(h->answers, head, len);
	for (u32 i = 0; i < j->ncommands && r == 0; i++) {
		const struct course *c = &o->courses[i];
		r = write_all(h->answers, c->out.data, c->out.len);
		if (r == 0)
			r = write_all(h->answers, c->err.data, c->err.len);
	}
	return r;
}

long answer_result(const struct house *h, u64 seq, const struct job *j, const struct outcome *o) {
	return answer(FRAME_RESULT, h, seq, j, o);
}

long answer_state(const struct house *h, u64 seq, const struct job *j, const struct outcome *o) {
	return answer(FRAME_STATE, h, seq, j, o);
}
