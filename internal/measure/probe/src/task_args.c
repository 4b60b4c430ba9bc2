/* task_args.c: the arguments of the verb task. Lists are counted, so that any
 * argument may stand in them. */
#include "task.h"
#include "small.h"

const char *const task_kinds[KINDS] = {"prepare", "serve", "port", "file", "main", "stay", "cleanup"};

static int kind_of(const char *s) {
	for (int k = 0; k < KINDS; k++)
		if (text_eq(s, task_kinds[k]))
			return k;
	return -1;
}

/* program reads [--status N] [--output F] [--input F] COUNT ARG... */
static const char *program(struct task_step *s, char ***argv) {
	char **p = *argv;
	i64 n;
	for (; p[0] && p[1] && text_begins(p[0], "--"); p += 2) {
		if (text_eq(p[0], "--output")) {
			s->output = p[1];
		} else if (text_eq(p[0], "--input")) {
			s->input = p[1];
		} else if (text_eq(p[0], "--status")) {
			n = text_num(p[1], 255);
			if (n < 0)
				return "task: --status takes 0 to 255";
			s->want = (int)n;
		} else {
			return "task: unknown option of a step";
		}
	}
	n = p[0] ? text_num(p[0], 1 << 20) : -1;
	if (n < 1)
		return "task: the count of a step's arguments is missing";
	s->argv = ++p;
	s->argc = (u32)n;
	for (; n; n--, p++)
		if (!*p)
			return "task: a step has fewer arguments than it says";
	if (!*s->argv[0])
		return "task: a step's program has no name";
	*argv = p;
	return NULL;
}

static const char *step(struct task_step *s, char ***argv) {
	char **p = *argv;
	i64 n;
	s->kind = kind_of(*p++);
	if (s->kind < 0)
		return "task: no such kind of step";
	if (s->kind == PORT) {
		n = *p ? text_num(*p, 65535) : -1;
		if (n < 1)
			return "task: port takes 1 to 65535";
		s->port = (int)n;
		p++;
	} else if (s->kind == FILE_THERE) {
		if (!*p || !**p)
			return "task: file takes a path";
		s->file = *p++;
	} else if (s->kind != STAY) {
		const char *wrong = program(s, &p);
		if (wrong)
			return wrong;
	}
	*argv = p;
	return NULL;
}

const char *task_parse(struct task *t, char **argv) {
	for (; *argv && text_begins(*argv, "--"); argv++) {
		if (text_eq(*argv, "--report"))
			t->report = 1;
		else if (text_eq(*argv, "--hash"))
			t->hash = 1;
		else if (text_eq(*argv, "--dir") && argv[1])
			t->dir = *++argv;
		else
			return "task: unknown argument";
	}
	while (*argv) {
		const char *wrong;
		if (t->nsteps == TASK_STEPS)
			return "task: too many steps";
		wrong = step(&t->steps[t->nsteps++], &argv);
		if (wrong)
			return wrong;
	}
	/* What follows a list is known by now: the list may end with a NULL. */
	for (u32 i = 0; i < t->nsteps; i++)
		if (t->steps[i].argv)
			t->steps[i].argv[t->steps[i].argc] = NULL;
	return t->nsteps ? NULL : "usage: task WORD [--report] [--hash] [--dir DIR] STEP...";
}

#if defined(__clang__)
#pragma clang attribute pop
#endif
