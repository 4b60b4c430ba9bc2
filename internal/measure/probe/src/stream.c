/* stream.c: what commands print. */
#include "run.h"

static char discard[65536];

static void stream_close(struct stream *s) {
	if (s->fd >= 0)
		sys_close(s->fd);
	s->fd = -1;
}

/* stream_read reads once; it must not block, so something must be there. */
void stream_read(struct job_run *r, struct course *c, struct stream *s, i64 at) {
	u32 room = r->job->output_limit - s->len;
	char *to = room ? s->data + s->len : discard;
	long n = sys_read(s->fd, to, room ? room : sizeof(discard));
	if (n == -EINTR || n == -EAGAIN)
		return;
	if (n <= 0) {
		stream_close(s);
		return;
	}
	if (room)
		s->len += (u32)n;
	else
		s->dropped += n;
	if (s == &c->out && r->commands[c - r->o->courses].calibrate)
		exchange_feed(r, c, to, (usize)n, at);
}

void stream_drain(struct job_run *r, struct course *c, struct stream *s) {
	/* A pipe's worth and some more: whoever goes on writing must not keep us. */
	for (int i = 0; i < 64 && s->fd >= 0; i++) {
		struct pollfd f = {s->fd, POLLIN, 0};
		struct __kernel_timespec none = {0, 0};
		if (sys_ppoll(&f, 1, &none) <= 0)
			break;
		if ((f.revents & POLLIN) && !c->first && s == &c->out)
			stream_first(r, c, now());
		stream_read(r, c, s, now());
	}
	stream_close(s);
}

void stream_first(struct job_run *r, struct course *c, i64 at) {
	c->first = at;
	if (!r->o->ready && !(r->commands[c - r->o->courses].flags & CMD_MUTE))
		r->o->ready = at;
}
