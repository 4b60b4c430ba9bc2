/* spawn.c: from a command to a process.
 *
 * The child shares our memory and has us wait until it execs, as vfork does,
 * but on a stack of its own: the cheapest way to start a process, and the
 * child can tell by plain memory where it failed. It has a table of
 * descriptors, signal handlers and credentials of its own. */
#include "job.h"
#include "text.h"

struct newborn {
	const struct command *cmd;
	struct birth *birth;
	const int *fds;
	int launcher;
	u32 uid, gid; /* ours, for the floor's maps */
};

static u8 stack[65536] __attribute__((aligned(16)));

#define TRY(what, call)                      \
	do {                                 \
		long try_r = (call);         \
		if (try_r < 0) {             \
			b->where = (what);   \
			b->err = (i32)-try_r; \
			return 127;          \
		}                            \
	} while (0)

static long join_cgroup(const char *procs) {
	long fd = sys_open(procs, O_WRONLY), r;
	if (fd < 0)
		return fd;
	r = sys_write((int)fd, "0", 1); /* 0 is whoever writes */
	sys_close((int)fd);
	return r;
}

static int child(void *p) {
	struct newborn *n = p;
	const struct command *c = n->cmd;
	struct birth *b = n->birth;
	sigset none = 0;

	if (c->flags & CMD_FLOOR) {
		b->steps[b->nsteps].name = "cloned";
		b->steps[b->nsteps++].at = now();
	}
	for (char **g = c->cgroups; *g; g++)
		TRY("cgroup", join_cgroup(*g));
	TRY("setpgid", sys_setpgid(0, 0));
	for (u32 i = 0; i < c->nrlimits; i++)
		TRY("rlimit", sys_prlimit((int)c->rlimits[i].resource, &c->rlimits[i].v, NULL));
	for (int i = 0; i < 3; i++)
		TRY("dup3", sys_dup3(n->fds[i], i, 0));
	if (c->flags & CMD_FLOOR) {
		long r = floor_enter(c, b, n->uid, n->gid);
		if (r < 0) {
			b->err = (i32)-r;
			return 127;
		}
	}
	if (*c->chroot) {
		TRY("chroot", sys_chroot(c->chroot));
		TRY("chdir", sys_chdir("/"));
	}
	if (*c->dir)
		TRY("chdir", sys_chdir(c->dir));
	if (c->flags & CMD_UNSYNCED) { /* the user to come may not be allowed to */
		const char *what = "";
		TRY(what, unsync(&what));
	}
	if (c->flags & CMD_SET_USER) {
		TRY("setgroups", sys_setgroups(c->ngroups, c->groups));
		TRY("setresgid", sys_setresgid(c->gid, c->gid, c->gid));
		TRY("setresuid", sys_setresuid(c->uid, c->uid, c->uid));
	}
	/* A change of credentials clears this, so it comes after. The launcher
	 * may have died before it: a child in a pid namespace of its own sees
	 * its parent as 0. */
	TRY("pdeathsig", sys_prctl(PROBE_PR_SET_PDEATHSIG, SIGKILL));
	if (!(c->flags & CMD_FLOOR) && sys_getppid() != n->launcher)
		sys_exit(127);
	TRY("sigprocmask", sys_sigprocmask(SIG_SETMASK, &none));
	if (c->flags & CMD_FLOOR) {
		b->steps[b->nsteps].name = "exec";
		b->steps[b->nsteps++].at = now();
	}
	TRY("exec", sys_execve(c->argv[0], c->argv, c->env));
	return 127;
}

/* clone3 first, for it is what a new runtime would use; filters that do not
 * know it (and say ENOSYS or EPERM) still let clone through. */
static long clone_floor(const struct command *cmd, struct newborn *n) {
	struct clone_args a = {0};
	unsigned long flags = CLONE_VM | CLONE_VFORK | floor_flags(cmd);
	long r;
	a.flags = flags;
	a.exit_signal = SIGCHLD;
	a.stack = (u64)(usize)stack;
	a.stack_size = sizeof(stack);
	r = spawn_call(__NR_clone3, (usize)&a, sizeof(a), child, n);
	if (r != -ENOSYS && r != -EPERM)
		return r;
	return spawn_call(__NR_clone, flags | SIGCHLD, (usize)(stack + sizeof(stack)), child, n);
}

long spawn(const struct command *cmd, struct course *c, const int fds[3], int launcher) {
	struct newborn n = {cmd, &c->birth, fds, launcher, 0, 0};
	long r;
	if (cmd->flags & CMD_FLOOR_USER) {
		n.uid = (u32)sys_geteuid();
		n.gid = (u32)sys_getegid();
	}
	c->spawn = now();
	if (cmd->flags & CMD_FLOOR)
		r = clone_floor(cmd, &n);
	else
		r = spawn_call(__NR_clone, CLONE_VM | CLONE_VFORK | SIGCHLD, (usize)(stack + sizeof(stack)), child, &n);
	c->exec = now();
	if (r < 0) {
		c->birth.where = "clone";
		c->birth.err = (i32)-r;
	}
	/* The child's new credentials have marked the memory that we share as
	 * not dumpable, which would hand our own files in /proc to root. */
	if (cmd->flags & CMD_SET_USER)
		sys_prctl(PROBE_PR_SET_DUMPABLE, 1);
	return r;
}
