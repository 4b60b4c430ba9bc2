/* job.h: a job as decoded, and what became of it. docs/probe.md has the
 * frame format. All memory is static. */
#ifndef PROBE_JOB_H
#define PROBE_JOB_H

#include "sys.h"

enum {
	FRAME_VERSION = 1,
	FRAME_HEADER = 16,
	FRAME_JOB = 1,    /* to the launcher */
	FRAME_ABORT = 2,  /* to the launcher, during a job */
	FRAME_HELLO = 3,  /* from the launcher, once */
	FRAME_RESULT = 4, /* from the launcher */
	FRAME_ERROR = 5,  /* from the launcher: a text; it ends */
	FRAME_LOOK = 6,   /* to the launcher, while a job is held: a state is wanted */
	FRAME_STATE = 7,  /* from the launcher, while a job is held: the course so far */
	FRAME_END = 8,    /* to the launcher: the held job's last commands */

	MAX_FRAME = 1 << 20,
	MAX_COMMANDS = 32,
	MAX_GROUPS = 256,
	MAX_RLIMITS = 32,
	MAX_STRINGS = 32768, /* pointers of all argument lists together */
	MAX_POOL = 16 << 20, /* output of all streams together */
	MAX_STEPS = 12,
	MAX_EXCHANGES = 4096,
	MAX_STRAYS = 4096
};

enum { /* command flags */
	CMD_SET_USER = 1,
	CMD_BACKGROUND = 2,
	CMD_ALWAYS = 4,
	CMD_STDIN_PIPE = 8,
	CMD_FLOOR = 16,
	CMD_FLOOR_USER = 32,
	CMD_FLOOR_NET = 64,
	CMD_MUTE = 128,
	CMD_UNSYNCED = 256
};

enum { AWAIT_PREVIOUS, AWAIT_READY, AWAIT_CONTAINER_EXIT, AWAIT_GRACE, AWAIT_END };

struct rlimit_set {
	u32 resource;
	struct rlimit64 v;
};

struct command {
	u32 flags, await, signal, calibrate, uid, gid;
	i64 grace;
	u32 ngroups, nrlimits;
	u32 groups[MAX_GROUPS];
	struct rlimit_set rlimits[MAX_RLIMITS];
	u32 argc;
	char **argv, **env, **cgroups; /* each ends with NULL */
	char *dir, *chroot, *pidfile; /* "" where not given */
	char *lower, *upper, *work, *merged;
};

enum { JOB_HELD = 1 }; /* the job does not end before a FRAME_END has come */

struct job {
	i64 limit, cleanup;
	u32 output_limit;
	u32 flags;
	u32 ncommands;
	struct command commands[MAX_COMMANDS];
};

/* decode_job reads the body of a job frame. The strings stay where they are,
 * in body. NULL, or what is wrong with it. */
const char *decode_job(struct job *j, char *body, usize n);

/* decode_more reads the body of an end frame: a new limit, and commands that
 * are added to the job's. */
const char *decode_more(struct job *j, char *body, usize n);

struct step {
	const char *name;
	i64 at;
};

/* What a child reports through the shared memory of vfork. */
struct birth {
	i32 err;
	const char *where;
	u32 nsteps;
	struct step steps[MAX_STEPS];
};

struct stream {
	int fd; /* -1: closed */
	char *data;
	u32 len;
	i64 dropped;
};

enum { WAITING, RUNNING, ENDED, SKIPPED };

struct course {
	int state;
	int pid;      /* 0 once reaped */
	int stdin_fd; /* write end, -1 where there is none */
	i64 spawn, exec, first, exit;
	int status;
	int failed;
	struct rusage usage;
	struct birth birth;
	struct stream out, err;
	/* The clock exchange. */
	u32 rounds;     /* still to be held */
	int asked;      /* a question is out */
	i64 sent;
	char line[64];  /* the line of stdout that is being read */
	u32 line_len;
};

struct exchange {
	i64 sent, inside, received;
};

struct outcome {
	i64 ready, container_exit;
	int container_status, container_reaped, container_late;
	int timed_out, aborted, killed;
	int over; /* nothing of the job runs any more */
	u32 nexchanges;
	struct exchange exchanges[MAX_EXCHANGES];
	u32 nstrays;
	int strays[MAX_STRAYS];
	struct course courses[MAX_COMMANDS];
};

/* The launcher's own descriptors. */
struct house {
	int requests, answers, signals, null;
	int pid;
};

/* spawn starts a process: stamps, vforks, and returns its pid, or a negative
 * errno with c->birth telling where. fds are its 0, 1 and 2. */
long spawn(const struct command *cmd, struct course *c, const int fds[3], int launcher);
/* floor_enter makes a container around the calling child; 0 or -errno with
 * b->where. */
long floor_enter(const struct command *cmd, struct birth *b, u32 uid, u32 gid);
unsigned long floor_flags(const struct command *cmd);

/* unsync has the calling process, and all that it will start, wait for no disk:
 * 0, or -errno with *what it failed at. */
long unsync(const char **what);

/* run_job carries a job out; 0, or a negative number where the launcher must
 * end (the other side has gone: everything is killed). */
int run_job(const struct house *h, struct job *j, struct outcome *o, u64 seq);
/* run_reap collects the children that ended outside of a job. */
void run_reap(void);

/* answer_hello, answer_result, answer_error write a frame; 0 or -errno. */
long answer_hello(const struct house *h);
long answer_result(const struct house *h, u64 seq, const struct job *j, const struct outcome *o);
/* answer_state writes the course so far. */
long answer_state(const struct house *h, u64 seq, const struct job *j, const struct outcome *o);
long answer_error(const struct house *h, const char *text);

/* strays_list lists our children, by /proc; their number, -errno where that
 * can't be known. */
long strays_list(const struct house *h, int *pids, usize n);
/* strays_kill kills all children and theirs, but for the keep that are given,
 * until there are none or 2 s have passed. */
void strays_kill(const struct house *h, const int *keep, usize nkeep);

#endif
