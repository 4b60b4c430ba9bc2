/* when.c: what must have happened before a command. */
#include "run.h"

static int over(const struct course *c) { return c->state >= ENDED; }

u32 container_command(const struct job_run *r) {
	for (u32 i = 0; i < r->next; i++)
		if (r->commands[i].argc && !(r->commands[i].flags & CMD_MUTE))
			return i;
	return 0;
}

static int container_over(const struct job_run *r) {
	if (r->watched)
		return r->o->container_exit != 0;
	for (u32 i = 0; i < r->next; i++) /* its pid may still become known */
		if (*r->commands[i].pidfile && !over(&r->o->courses[i]))
			return 0;
	return over(&r->o->courses[container_command(r)]);
}

/* ready_possible: some stream is left that the first byte can come from. */
static int ready_possible(const struct job_run *r) {
	for (u32 i = 0; i < r->next; i++)
		if (!(r->commands[i].flags & CMD_MUTE) && r->o->courses[i].out.fd >= 0)
			return 1;
	return 0;
}

static int any_failed(const struct job_run *r) {
	for (u32 i = 0; i < r->next; i++)
		if (over(&r->o->courses[i]) && r->o->courses[i].failed)
			return 1;
	return 0;
}

static i64 grace_ends(const struct job_run *r, u32 i) {
	return r->o->courses[i - 1].spawn + r->commands[i].grace;
}

int may_start(const struct job_run *r, u32 i) {
	const struct command *c = &r->commands[i];
	if (r->phase >= LAST)
		return SKIP;
	if (i > 0 && !over(&r->o->courses[i - 1]) && !(r->commands[i - 1].flags & CMD_BACKGROUND))
		return WAIT;
	if (r->phase > NORMAL || any_failed(r))
		return c->flags & CMD_ALWAYS ? START : SKIP;
	switch (c->await) {
	case AWAIT_READY:
		if (r->o->ready)
			return START;
		if (ready_possible(r))
			return WAIT;
		return c->flags & CMD_ALWAYS ? START : SKIP;
	case AWAIT_CONTAINER_EXIT:
		return i == 0 || container_over(r) ? START : WAIT;
	case AWAIT_GRACE:
		if (i == 0 || r->o->courses[i - 1].state == SKIPPED || container_over(r))
			return SKIP;
		return now() >= grace_ends(r, i) ? START : WAIT;
	}
	return START;
}

i64 wake_at(const struct job_run *r) {
	u32 i = r->next;
	i64 at;
	if (i == 0 || i >= r->job->ncommands || r->commands[i].await != AWAIT_GRACE)
		return r->deadline;
	at = grace_ends(r, i);
	/* Past already: the command waits for another reason, which will wake us. */
	return at > now() && at < r->deadline ? at : r->deadline;
}
