/* task.h: the steps of a workload inside one container, shared by the files
 * of the verb task. All memory is static. */
#ifndef PROBE_TASK_H
#define PROBE_TASK_H

#include "job.h"
#include "text.h"

enum {
	TASK_STEPS = 64,
	TASK_WORD = 128,
	TASK_WAIT_S = 30,  /* bound of the steps that wait */
	TASK_GRACE_S = 2,  /* from SIGTERM to SIGKILL for servers */
	TASK_POLL_NS = 1000000 /* of a port or a file, for which there is no event */
};

enum { PREPARE, SERVE, PORT, FILE_THERE, MAIN, STAY, CLEANUP, KINDS };

struct task_step {
	int kind;
	int want;             /* exit status that means success */
	char *output, *input; /* NULL where not given */
	char **argv;
	u32 argc;
	int port;
	const char *file;

	int begun, ended;
	int pid; /* 0 once reaped */
	int status, err;
	i64 spawn;
	const char *program; /* the path that was executed */
};

struct task {
	int report, hash;
	const char *dir;
	char **env;
	u32 nsteps;
	struct task_step steps[TASK_STEPS];
	int in, out, err; /* the steps' standard streams; none of them is below 3 */
	int pid;
	int running; /* index of the step that SIGTERM is handed to, -1 */
	int stopped; /* SIGTERM came */
	int ending;  /* servers are being ended by us */
	int failed, status; /* a step failed; the first one's status */
};

/* task_args.c: reads the arguments; NULL, or what is wrong with them. */
const char *task_parse(struct task *t, char **argv);
extern const char *const task_kinds[KINDS];

/* task_say.c: the task's own lines. */
void task_first(const char *word, i64 start, int with_report);
void task_begin(u32 i, const struct task_step *s, i64 at);
void task_end(u32 i, const struct task_step *s, i64 at, const struct rusage *ru);
void task_ready(i64 at);
void task_binary(const char *hex, long err);
void task_done(i64 at);

/* task_step.c: starts a step's program; where that fails the step has ended. */
void task_start(struct task *t, u32 i);
/* task_find gives the path of a program as execvp would find it; NULL and the
 * errno in *err. */
const char *task_find(const char *name, char **env, long *err);
long task_mkdirs(const char *path);

/* task_wait.c: task_pump waits for one signal, until the time given (0: for
 * ever), and collects the ends of children. */
void task_signals(void);
void task_pump(struct task *t, i64 until);
/* task_port, task_file: 0, or -errno: -ETIMEDOUT, -ESRCH (a server has ended),
 * -EINTR (stopped). */
long task_port(struct task *t, int port);
long task_file(struct task *t, const char *path);
/* task_end_all ends the servers and everything else that we have started. */
void task_end_all(struct task *t);
int task_children(void);

/* sha256.c: the SHA-256 of a file in hexadecimal; 0 or -errno. */
long sha256_file(const char *path, char hex[65]);

#endif
