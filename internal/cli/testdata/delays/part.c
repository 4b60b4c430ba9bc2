/* part.c: a program in the place of one of an engine's. It does some work that the engine
 * does not, writes down from when to when that was, and becomes the program in whose place
 * it stands.
 *
 * NEXT is that program, WORD what one of its arguments has to begin with, LOG the file that
 * is written to; the rest is told where it is used. */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MUST(call) do { if ((call) < 0) err(1, "%s", #call); } while (0)

static inline struct timespec now(void) {
	struct timespec t;
	MUST(clock_gettime(CLOCK_MONOTONIC, &t));
	return t;
}

static struct timespec from, to;

static inline void pause_for(long ns) {
	const struct timespec t = {ns / 1000000000, ns % 1000000000};
	if (ns > 0)
		MUST(nanosleep(&t, NULL));
}

#if defined(MOUNTS) /* how many, below the directory FILE_NAME that has as many others */
static void mount_all(void) {
	char path[4096];
	MUST(unshare(CLONE_NEWNS));
	MUST(mount("", "/", "", MS_REC | MS_PRIVATE, NULL));
	from = now();
	for (int i = 0; i < MOUNTS; i++) {
		snprintf(path, sizeof(path), FILE_NAME "/%d", i);
		MUST(mount(path, path, "", MS_BIND, NULL));
	}
	to = now();
}

static void work(void) {
#ifdef UNDONE /* nothing of them is left, and the time that takes counts too */
	struct timespec begin = now();
	pid_t child = fork();
	int status;
	MUST(child);
	if (child == 0) {
		if (MOUNTS > 0)
			mount_all();
		_exit(0);
	}
	MUST(waitpid(child, &status, 0));
	if (status != 0)
		errx(1, "no mounts: status %d", status);
	from = begin;
	to = now();
#else /* the program has them too, in the mount namespace in which they are */
	mount_all();
#endif
}
#elif defined(SYNCS) /* how often the file FILE_NAME is written through to the disk */
static void work(void) {
	static const char page[4096];
	int fd = open(FILE_NAME, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	MUST(fd);
	from = now();
	for (int i = 0; i < SYNCS; i++) {
		MUST(pwrite(fd, page, sizeof(page), i * (off_t)sizeof(page)));
		MUST(fsync(fd));
	}
	to = now();
	close(fd);
}
#elif defined(LOCKS) || defined(HOLDS) /* the lock of the file FILE_NAME, or one in it */
#ifdef SHARED /* in memory that both have */
static pthread_mutex_t *mutex;

static void find_lock(int made) {
	pthread_mutexattr_t shared;
	int fd = open(FILE_NAME, O_RDWR | O_CLOEXEC);
	MUST(fd);
	MUST(ftruncate(fd, 4096));
	mutex = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (mutex == MAP_FAILED)
		err(1, "mmap");
	if (made)
		return;
	pthread_mutexattr_init(&shared);
	pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(mutex, &shared);
}

static int take(void) { return -pthread_mutex_lock(mutex); }
static int give(void) { return -pthread_mutex_unlock(mutex); }
#else
static int lock;

static void find_lock(int made) {
	(void)made;
	MUST(lock = open(FILE_NAME, O_RDONLY | O_CLOEXEC));
}

static int take(void) { return flock(lock, LOCK_EX); }
static int give(void) { return flock(lock, LOCK_UN); }
#endif

#ifdef LOCKS /* whether it waits for it; by ASK the holder hears that it wants it, and is done */
static void work(void) {
	int ask = open(ASK, O_WRONLY | O_CLOEXEC);
	MUST(ask);
	find_lock(1);
	if (!LOCKS) {
		from = to = now();
		return;
	}
	MUST(write(ask, "w", 1));
	from = now();
	MUST(take());
	to = now();
	MUST(give());
	MUST(write(ask, "g", 1));
}
#else /* HOLDS: for how long it keeps it when somebody wants it, ns */
static void hear(int ask) {
	char c;
	if (read(ask, &c, 1) != 1)
		errx(1, "nobody asks");
}

static void work(void) {
	int ask = open(ASK, O_RDWR); /* as a writer too it never sees the end */
	MUST(ask);
	find_lock(0);
	for (;;) {
		MUST(take());
		MUST(write(1, "h", 1));
		hear(ask);
		pause_for(HOLDS);
		MUST(give());
		hear(ask);
	}
}
#endif
#elif defined(READY) /* a log driver of containerd's: for how long it is not ready, ns */
static void work(void) {
	from = now();
	pause_for(READY);
	to = now();
}

static void log_all(void) { /* the output is at 3 and 4; by closing 5 it says that it is ready */
	char some[4096];
	MUST(close(5));
	for (int fd = 3; fd < 5; fd++)
		while (read(fd, some, sizeof(some)) > 0)
			;
}
#else /* PAUSES, ns */
static void work(void) {
	from = now();
	pause_for(PAUSES);
	to = now();
}
#endif

static void note(void) {
	char line[100];
	int n = snprintf(line, sizeof(line), "%lld.%09ld %lld.%09ld\n", (long long)from.tv_sec, from.tv_nsec, (long long)to.tv_sec, to.tv_nsec);
	int fd = open(LOG, O_CREAT | O_APPEND | O_WRONLY | O_CLOEXEC, 0600);
	MUST(fd);
	MUST(write(fd, line, n));
	close(fd);
}

int main(int argc, char **argv) {
	for (int i = 0; i < argc; i++)
		if (!*WORD || (i && !strncmp(argv[i], WORD, strlen(WORD)))) {
			work();
			note();
			break;
		}
#ifdef READY
	log_all();
	return 0;
#else
	argv[0] = NEXT;
	execv(NEXT, argv);
	err(1, "%s", NEXT);
#endif
}
