/* spin.c: computes for NS nanoseconds where VERB is among its arguments, then
 * becomes PROGRAM. It does not sleep: a program that got slower does not either,
 * and a processor that slept wakes up late by as much as 1 % of a start. */
#include <string.h>
#include <time.h>
#include <unistd.h>

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char **argv, char **envp)
{
	long long begin = now();

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], VERB) != 0)
			continue;
		while (now() - begin < NS)
			;
		break;
	}
	argv[0] = PROGRAM;
	execve(PROGRAM, argv, envp);
	return 127;
}
