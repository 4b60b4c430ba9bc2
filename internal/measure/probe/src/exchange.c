/* exchange.c: the clock exchange. We stamp and write a line to the payload,
 * it stamps and answers, we stamp the answer: the least of the round trips
 * bounds by how much its clock can differ from ours. */
#include "run.h"
#include "text.h"

static void ask(struct course *c) {
	if (!c->rounds) {
		if (c->stdin_fd >= 0)
			sys_close(c->stdin_fd); /* the end of its input ends the payload */
		c->stdin_fd = -1;
		return;
	}
	c->rounds--;
	c->asked = 1;
	c->sent = now();
	if (c->stdin_fd < 0 || sys_write(c->stdin_fd, "\n", 1) != 1)
		c->rounds = 0;
}

static void line(struct job_run *r, struct course *c, i64 at) {
	static const char answer[] = "plimsoll at ";
	i64 inside;
	if (c->line_len && c->line[c->line_len - 1] == '\r')
		c->line_len--;
	c->line[c->line_len] = 0;
	if (!c->asked) {
		if (text_begins(c->line, "plimsoll 1 "))
			ask(c);
		return;
	}
	if (!text_begins(c->line, answer))
		return;
	inside = text_num(c->line + sizeof(answer) - 1, (i64)1 << 62);
	if (inside >= 0 && r->o->nexchanges < MAX_EXCHANGES)
		r->o->exchanges[r->o->nexchanges++] = (struct exchange){c->sent, inside, at};
	ask(c);
}

void exchange_feed(struct job_run *r, struct course *c, const char *s, usize n, i64 at) {
	for (usize i = 0; i < n; i++) {
		if (s[i] != '\n') {
			if (c->line_len < sizeof(c->line) - 1)
				c->line[c->line_len++] = s[i];
			continue;
		}
		line(r, c, at);
		c->line_len = 0;
	}
}
