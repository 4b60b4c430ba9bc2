/* floor_verb.c: the floor by hand: runs a program in the smallest container
 * and tells on stderr how long each step took. */
#include "job.h"
#include "text.h"
#include "verbs.h"

static struct command cmd;
static struct course c;
static struct out out;
static char *none[1];

void verb_floor(char **argv, char **env) {
	const int fds[3] = {0, 1, 2};
	struct rusage ru;
	int status = 0;
	long pid, r;
	cmd.flags = CMD_FLOOR;
	for (; *argv && **argv == '-'; argv++) {
		if (text_eq(*argv, "--user"))
			cmd.flags |= CMD_FLOOR_USER;
		else if (text_eq(*argv, "--net"))
			cmd.flags |= CMD_FLOOR_NET;
		else
			break;
	}
	for (int i = 0; i < 4; i++)
		if (!argv[i] || argv[i][0] != '/')
			complain(STATUS_USAGE, "usage: floor [--user] [--net] LOWER UPPER WORK MERGED -- PROGRAM ARGS", 0);
	if (!argv[4] || !text_eq(argv[4], "--") || !argv[5])
		complain(STATUS_USAGE, "floor: -- PROGRAM is missing", 0);
	cmd.lower = argv[0], cmd.upper = argv[1], cmd.work = argv[2], cmd.merged = argv[3];
	cmd.argv = argv + 5;
	cmd.env = env;
	cmd.cgroups = none;
	cmd.dir = cmd.chroot = "";

	/* dup3 refuses a descriptor onto itself: hand over copies. */
	int copies[3];
	for (int i = 0; i < 3; i++) {
		r = sys_fcntl(fds[i], PROBE_F_DUPFD_CLOEXEC, 10);
		if (r < 0)
			complain(STATUS_SYSTEM, "floor: copying a standard stream", r);
		copies[i] = (int)r;
	}
	pid = spawn(&cmd, &c, copies, (int)sys_getpid());
	if (c.birth.err)
		complain(STATUS_NO_EXEC, c.birth.where, c.birth.err);
	do {
		r = sys_wait4((int)pid, &status, 0, &ru);
	} while (r == -EINTR);
	if (r < 0)
		complain(STATUS_SYSTEM, "floor: wait4", r);
	out.fd = 2;
	for (u32 i = 0; i < c.birth.nsteps; i++) {
		out_num(&out, (c.birth.steps[i].at - c.spawn) / 1000);
		out_text(&out, " us ");
		out_text(&out, c.birth.steps[i].name);
		out_text(&out, "\n");
	}
	out_flush(&out);
	sys_exit(status & 0x7f ? 128 + (status & 0x7f) : (status >> 8) & 0xff);
}
