/* hold.c: a job that is held: it is told of its course while it runs, and gets
 * its last commands, those that stop and remove the container, when the other
 * side wants its end. */
#include "run.h"
#include "text.h"

static char frame[MAX_FRAME]; /* the job's own strings stay where they are */

int held_tell(struct job_run *r, int over) {
	int know = over ? 2 : r->o->ready != 0;
	if (know <= r->told)
		return 0;
	r->told = know;
	return answer_state(r->h, r->seq, r->job, r->o) < 0 ? -1 : 0;
}

static int take(const struct job_run *r, usize n) {
	for (char *p = frame; n;) {
		long got = sys_read(r->h->requests, p, n);
		if (got == -EINTR)
			continue;
		if (got <= 0)
			return -1;
		p += got;
		n -= (usize)got;
	}
	return 0;
}

int held_frame(struct job_run *r, u32 kind, usize n, i64 at) {
	u32 have = r->job->ncommands;
	const char *wrong;
	if (n > sizeof(frame) || take(r, n) < 0)
		return -1;
	if (!r->held)
		return 0; /* its end has begun without it */
	if (kind == FRAME_LOOK)
		return answer_state(r->h, r->seq, r->job, r->o) < 0 ? -1 : 0;
	wrong = decode_more(r->job, frame, n);
	if (wrong) {
		answer_error(r->h, wrong);
		return -1;
	}
	for (u32 i = have; i < r->job->ncommands; i++)
		run_course(r, i);
	r->deadline = at + r->job->limit;
	r->held = 0;
	return 0;
}
