/* run.h: the state of the job that runs, shared by run.c and its parts. */
#ifndef PROBE_RUN_H
#define PROBE_RUN_H

#include "job.h"

enum { NORMAL, CLEANUP, LAST, OVER }; /* phases; each ends by a strike */
enum { WAIT, START, SKIP };

/* A child that is no command of ours, and its end. */
struct reaped {
	int pid, status;
	i64 at;
};

struct job_run {
	const struct house *h;
	struct job *job;
	const struct command *commands;
	struct outcome *o;
	u64 seq;
	u32 next; /* the first command that is neither started nor skipped */
	int phase;
	int held; /* more commands will come */
	int told; /* 1: the payload is ready, 2: all has ended; what the other side knows */
	i64 deadline; /* of the phase */
	int container;     /* pidfd, -1 */
	int container_pid; /* as long as we may still reap it */
	int watched;       /* a pid file was read */
	struct reaped reaped[64]; /* a ring */
	u32 nreaped;
};

/* when.c: may_start decides over a command; wake_at is the next time that
 * needs us even if nothing happens. */
int may_start(const struct job_run *r, u32 i);
i64 wake_at(const struct job_run *r);
/* container_command is the command that stands for the container where no pid
 * file was read: the first that carries the payload. */
u32 container_command(const struct job_run *r);

/* reap.c: reap collects all children that have ended; container_ended notes
 * the end of the watched container; children_left says whether we have
 * children. reap gives -1 where a SIGTERM came. */
int reap(struct job_run *r, i64 at);
void container_ended(struct job_run *r, i64 at);
int children_left(struct job_run *r);

/* hold.c: held_tell tells the other side where a held job is, as soon as it is
 * ready and when nothing of it runs any more; held_frame deals with a frame
 * for it. -1 where the other side has gone or said nonsense. */
int held_tell(struct job_run *r, int over);
int held_frame(struct job_run *r, u32 kind, usize n, i64 at);
/* run_course makes the i-th command's course ready to begin. */
void run_course(struct job_run *r, u32 i);

/* stream.c: stream_first notes the first byte on a command's stdout;
 * stream_read reads once, where something is there; stream_drain reads what
 * is there and closes. */
void stream_first(struct job_run *r, struct course *c, i64 at);
void stream_read(struct job_run *r, struct course *c, struct stream *s, i64 at);
void stream_drain(struct job_run *r, struct course *c, struct stream *s);

/* exchange.c: reads a stream for answers of the clock exchange. */
void exchange_feed(struct job_run *r, struct course *c, const char *s, usize n, i64 at);

#endif
