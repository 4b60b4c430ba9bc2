/* spawn_loop.c: what the launcher is compared with: a plain loop over
 * posix_spawn, or over vfork and execve with nothing else between.
 * For each number read from stdin it runs the program so many times and
 * prints, a line each, the ns from just before posix_spawn to the first byte
 * on the program's stdout, and to the return of waitpid. Pipes are made
 * before the first stamp, as in the launcher. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void must(int bad, const char *what) {
	if (bad) {
		perror(what);
		exit(1);
	}
}

static int plain_vfork;

static void once(char **argv) {
	char *env[] = {NULL};
	char buf[4096];
	int out[2], err[2], status;
	long long t0, t1, t2;
	posix_spawn_file_actions_t a;
	pid_t pid;
	must(pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC), "pipe2");
	must(posix_spawn_file_actions_init(&a), "file_actions");
	posix_spawn_file_actions_addopen(&a, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&a, out[1], 1);
	posix_spawn_file_actions_adddup2(&a, err[1], 2);
	t0 = now();
	if (plain_vfork) {
		pid = vfork();
		if (pid == 0) {
			dup2(out[1], 1);
			dup2(err[1], 2);
			execve(argv[0], argv, env);
			_exit(127);
		}
		must(pid < 0, "vfork");
	} else {
		must(posix_spawn(&pid, argv[0], &a, NULL, argv, env), "posix_spawn");
	}
	close(out[1]);
	close(err[1]);
	must(read(out[0], buf, sizeof(buf)) <= 0, "no output");
	t1 = now();
	must(waitpid(pid, &status, 0) != pid || status, "waitpid");
	t2 = now();
	close(out[0]);
	close(err[0]);
	posix_spawn_file_actions_destroy(&a);
	printf("%lld %lld\n", t1 - t0, t2 - t0);
}

int main(int argc, char **argv) {
	int n;
	must(argc < 3, "usage: spawn_loop posix_spawn|vfork PROGRAM ARGS");
	plain_vfork = strcmp(argv[1], "vfork") == 0;
	while (scanf("%d", &n) == 1) {
		while (n-- > 0)
			once(argv + 2);
		fflush(stdout);
	}
	return 0;
}
