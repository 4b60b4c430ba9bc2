/* decode.c: a job frame to a struct job. Every length is checked against what
 * is left; nothing is copied. No system calls here, so that it can be fuzzed
 * in a hosted build. */
#include "job.h"
#include "text.h"

struct in {
	char *at;
	usize left;
	const char *wrong;
};

static char *strings[MAX_STRINGS];
static u32 nstrings;

static u64 number(struct in *in, usize bytes) {
	u64 v = 0;
	if (in->wrong || in->left < bytes) {
		if (!in->wrong)
			in->wrong = "the frame ends inside a number";
		return 0;
	}
	for (usize i = 0; i < bytes; i++)
		v |= (u64)(u8)in->at[i] << (8 * i);
	in->at += bytes;
	in->left -= bytes;
	return v;
}

static u32 u32_of(struct in *in) { return (u32)number(in, 4); }

static u32 count(struct in *in, u32 max, const char *wrong) {
	u32 n = u32_of(in);
	if (n <= max)
		return n;
	if (!in->wrong)
		in->wrong = wrong;
	return 0;
}

static i64 duration(struct in *in) {
	u64 v = number(in, 8);
	if (v > (u64)1 << 60) {
		in->wrong = "a duration is out of range";
		return 0;
	}
	return (i64)v;
}

/* string reads a length, without the NUL, and that many bytes and a NUL. */
static char *string(struct in *in) {
	static char empty[1];
	u32 n = u32_of(in);
	char *s = in->at;
	if (in->wrong)
		return empty;
	if (in->left == 0 || n > in->left - 1) {
		in->wrong = "a string is longer than the frame";
		return empty;
	}
	for (u32 i = 0; i < n; i++) {
		if (!s[i]) {
			in->wrong = "a string holds a NUL";
			return empty;
		}
	}
	if (s[n]) {
		in->wrong = "a string has no NUL at its end";
		return empty;
	}
	in->at += n + 1;
	in->left -= n + 1;
	return s;
}

static char **list(struct in *in, u32 *n) {
	u32 have = count(in, MAX_STRINGS, "too many strings");
	char **first = strings + nstrings;
	if (in->wrong || have >= MAX_STRINGS - nstrings) {
		if (!in->wrong)
			in->wrong = "too many strings in all";
		return strings + MAX_STRINGS - 1; /* always NULL */
	}
	for (u32 i = 0; i < have; i++)
		strings[nstrings++] = string(in);
	strings[nstrings++] = NULL;
	if (n)
		*n = have;
	return first;
}

static void command(struct in *in, struct command *c) {
	c->flags = u32_of(in);
	c->await = u32_of(in);
	c->signal = u32_of(in);
	c->calibrate = count(in, MAX_EXCHANGES, "too many rounds of the clock exchange");
	c->uid = u32_of(in);
	c->gid = u32_of(in);
	c->grace = duration(in);
	c->ngroups = count(in, MAX_GROUPS, "too many groups");
	for (u32 i = 0; i < c->ngroups; i++)
		c->groups[i] = u32_of(in);
	c->nrlimits = count(in, MAX_RLIMITS, "too many resource limits");
	for (u32 i = 0; i < c->nrlimits; i++) {
		c->rlimits[i].resource = u32_of(in);
		c->rlimits[i].v.rlim_cur = number(in, 8);
		c->rlimits[i].v.rlim_max = number(in, 8);
	}
	c->argv = list(in, &c->argc);
	c->env = list(in, NULL);
	c->cgroups = list(in, NULL);
	c->dir = string(in);
	c->chroot = string(in);
	c->pidfile = string(in);
	c->lower = string(in);
	c->upper = string(in);
	c->work = string(in);
	c->merged = string(in);
	if (c->await >= AWAIT_END)
		in->wrong = "unknown condition";
	if (c->signal > 64)
		in->wrong = "no such signal";
}

static const char *rest(struct in *in, const struct job *j) {
	if (!in->wrong && in->left)
		in->wrong = "bytes are left over at the end of the frame";
	if (!in->wrong && j->ncommands && j->output_limit > MAX_POOL / 2 / j->ncommands)
		in->wrong = "the output limit is too large for so many commands";
	return in->wrong;
}

const char *decode_job(struct job *j, char *body, usize n) {
	struct in in = {body, n, NULL};
	nstrings = 0;
	j->limit = duration(&in);
	j->cleanup = duration(&in);
	j->output_limit = u32_of(&in);
	j->flags = u32_of(&in);
	j->ncommands = count(&in, MAX_COMMANDS, "too many commands");
	for (u32 i = 0; i < j->ncommands && !in.wrong; i++)
		command(&in, &j->commands[i]);
	return rest(&in, j);
}

const char *decode_more(struct job *j, char *body, usize n) {
	struct in in = {body, n, NULL};
	i64 limit = duration(&in);
	u32 more = count(&in, MAX_COMMANDS - j->ncommands, "too many commands");
	for (u32 i = 0; i < more && !in.wrong; i++)
		command(&in, &j->commands[j->ncommands + i]);
	if (in.wrong)
		return in.wrong;
	j->limit = limit;
	j->ncommands += more;
	return rest(&in, j);
}
