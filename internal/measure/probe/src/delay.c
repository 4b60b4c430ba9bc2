/* delay.c: sleep for a given time, then become another program.
 *
 * With this the stopwatch is tried: put before an OCI runtime, it must be
 * found to be as much slower as it sleeps. The time counts from the first
 * instruction, so that only the program's own exec comes on top. */
#include "text.h"
#include "verbs.h"

void sleep_until(i64 at) {
	struct __kernel_timespec t = {at / 1000000000, at % 1000000000};
	long r;
	sys_prctl(PROBE_PR_SET_TIMERSLACK, 1); /* else the kernel may be 50 us late; failing is no harm */
	do {
		r = sys_clock_nanosleep(PROBE_CLOCK_MONOTONIC, PROBE_TIMER_ABSTIME, &t);
	} while (r == -EINTR);
	if (r < 0)
		complain(STATUS_SYSTEM, "clock_nanosleep", r);
}

static __attribute__((noreturn)) void become(i64 start, i64 ns, const char *only, const char *program, char **argv,
					     char **env) {
	int hit = only == NULL;
	for (char **a = argv + 1; !hit && argv[0] && *a; a++)
		hit = text_eq(*a, only);
	if (hit)
		sleep_until(start + ns);
	complain(STATUS_NO_EXEC, program, sys_execve(program, argv, env));
}

void verb_delay(i64 start, char **argv, char **env) {
	const char *only = NULL;
	i64 ns;
	if (argv[0] && text_eq(argv[0], "--only") && argv[1]) {
		only = argv[1];
		argv += 2;
	}
	ns = argv[0] ? text_num(argv[0], MAX_NS) : -1;
	if (ns < 0 || !argv[1] || !text_eq(argv[1], "--") || !argv[2])
		complain(STATUS_USAGE, "usage: delay [--only ARG] NS -- PROGRAM ARGS", 0);
	become(start, ns, only, argv[2], argv + 2, env);
}

/* word cuts the next word off *s. */
static char *word(char **s) {
	char *w;
	while (**s == ' ' || **s == '\n')
		(*s)++;
	w = *s;
	while (**s && **s != ' ' && **s != '\n')
		(*s)++;
	if (**s)
		*(*s)++ = 0;
	return w;
}

/* find reads SELF.delay: beside the program's real path, or beside argv[0]
 * where /proc is missing. */
static long find(const char *self, char *text, usize n) {
	static char path[4096], file[4096 + 8];
	long r = sys_readlink("/proc/self/exe", path, sizeof(path) - 1);
	if (r > 0) {
		path[r] = 0;
		if (text_join(file, sizeof(file), path, ".delay") == 0) {
			r = read_file(file, text, n);
			if (r >= 0)
				return r;
		}
	}
	r = text_join(file, sizeof(file), self, ".delay");
	return r < 0 ? r : read_file(file, text, n);
}

void delay_beside(i64 start, const char *self, char **argv, char **env) {
	static char text[8192];
	char *s = text, *only, *program;
	i64 ns;
	if (find(self, text, sizeof(text)) < 0)
		return;
	ns = text_num(word(&s), MAX_NS);
	only = word(&s);
	program = word(&s);
	if (ns < 0 || !*only || program[0] != '/')
		complain(STATUS_USAGE, "the .delay file beside this program must read: NS ARGUMENT-OR-- /PROGRAM", 0);
	argv[0] = program;
	become(start, ns, text_eq(only, "-") ? NULL : only, program, argv, env);
}
