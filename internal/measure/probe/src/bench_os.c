/* bench_os.c: what an operating system is asked for all day. Counts and
 * definitions are OSBench's (github.com/mbitsnbites/osbench); where it takes
 * the C library's way, we take the one that the library takes to the kernel. */
#include "bench.h"
#include "small.h"

enum { FILES = 65534, CHILDREN = 100, ALLOCATIONS = 1000000, MAPPINGS = 10000 };

static char path[4096];
static usize digits;

static void number(i64 v) {
	for (int i = 7; i >= 0; i--, v >>= 4)
		path[digits + (usize)i] = "0123456789abcdef"[v & 15];
}

/* Of each file: it is created, 32 bytes are written, it is closed; when all
 * are there, each is deleted. */
static i64 files(const struct bench *b, i64 n) {
	static const u8 data[32] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
	i64 from = now();
	for (i64 i = 0; i < n; i++) {
		number(i);
		long fd = bench_check(b, "creating a file", sys_create(path, O_WRONLY | O_CREAT | O_TRUNC, 0666));
		bench_check(b, "writing a file", write_all((int)fd, data, sizeof(data)));
		bench_check(b, "closing a file", sys_close((int)fd));
	}
	for (i64 i = 0; i < n; i++) {
		number(i);
		bench_check(b, "deleting a file", sys_unlink(path));
	}
	return now() - from;
}

void bench_files(const struct bench *b) {
	if (text_join(path, sizeof(path) - 16, b->dir ? b->dir : ".", "/plimsoll-") < 0)
		bench_fail(b, "the directory's name is too long", 0);
	digits = text_len(path);
	bench_batches(b, FILES, files);
}

static int leave(void *p) {
	(void)p;
	return 0;
}

static void collect(const struct bench *b, const int *pids, i64 n) {
	for (i64 i = 0; i < n; i++) {
		struct rusage ru;
		int status = 0;
		long r;
		do {
			r = sys_wait4(pids[i], &status, 0, &ru);
		} while (r == -EINTR);
		bench_check(b, "waiting for a child", r);
		if (status)
			bench_fail(b, "a child ended badly", status);
	}
}

static int pids[65536];

static i64 fit(const struct bench *b, i64 n) {
	if (n > (i64)COUNT(pids))
		bench_fail(b, "a batch of children is 65536 at most", 0);
	return n;
}

/* All are forked and end at once; then all are waited for. */
static i64 processes(const struct bench *b, i64 n) {
	i64 from = now();
	for (i64 i = 0; i < n; i++)
		pids[i] = (int)bench_check(b, "fork", spawn_call(__NR_clone, SIGCHLD, 0, leave, NULL));
	collect(b, pids, n);
	return now() - from;
}

void bench_processes(const struct bench *b) {
	fit(b, b->batch);
	bench_batches(b, CHILDREN, processes);
}

static int launch(void *p) {
	const struct bench *b = p;
	char *argv[] = {b->self, (char *)"nothing", NULL};
	sys_execve(b->self, argv, b->env);
	return 127;
}

/* As processes, but each executes a program: this one, which ends at once. */
static i64 programs(const struct bench *b, i64 n) {
	i64 from = now();
	for (i64 i = 0; i < n; i++)
		pids[i] = (int)bench_check(b, "fork", spawn_call(__NR_clone, SIGCHLD, 0, launch, (void *)b));
	collect(b, pids, n);
	return now() - from;
}

void bench_programs(const struct bench *b) {
	fit(b, b->batch);
	bench_batches(b, CHILDREN, programs);
}

static void idle(void *p) { (void)p; }

/* All are created and end at once; then all are joined. Each has a stack of
 * its own, mapped for it and unmapped. */
static i64 threads(const struct bench *b, i64 n) {
	static struct thread list[1024];
	i64 from = now();
	for (i64 i = 0; i < n; i++)
		bench_check(b, "creating a thread", thread_start(&list[i], idle, NULL));
	for (i64 i = 0; i < n; i++)
		bench_check(b, "joining a thread", thread_join(&list[i]));
	return now() - from;
}

void bench_threads(const struct bench *b) {
	if (b->batch > 1024)
		bench_fail(b, "a batch of threads is 1024 at most", 0);
	bench_batches(b, CHILDREN, threads);
}

/* Pieces of 4, 8 ... 128 bytes in turn, the first byte of each is written to;
 * when all are there, all are given back. The pieces lie as a C library's
 * allocator lays them: on multiples of 16 with 8 bytes of its own, from a heap
 * that grows by 132 KiB and shrinks when its end is free. */
static i64 heap(const struct bench *b, i64 n) {
	const usize step = 132 << 10;
	i64 from = now();
	usize begin = (usize)sys_brk(0), end = begin, at = begin;
	for (i64 i = 0; i < n; i++) {
		usize size = (((usize)i % 32 + 1) * 4 + 8 + 15) & ~(usize)15;
		if (size < 32)
			size = 32;
		if (at + size > end) {
			end += step;
			if ((usize)sys_brk(end) != end)
				bench_fail(b, "the heap can't grow: out of memory", ENOMEM);
		}
		*(volatile u8 *)(at + 8) = 1;
		at += size;
	}
	if ((usize)sys_brk(begin) != begin)
		bench_fail(b, "the heap can't shrink", EINVAL);
	return now() - from;
}

/* The same with a mapping of a page for each piece, as large ones get it. */
static i64 mappings(const struct bench *b, i64 n) {
	static volatile u8 *list[1 << 16];
	i64 from = now();
	for (i64 i = 0; i < n; i++) {
		list[i] = sys_anonymous(PROBE_PAGE);
		bench_check(b, "mapping memory", failed_at((void *)list[i]));
		list[i][0] = 1;
	}
	for (i64 i = 0; i < n; i++)
		bench_check(b, "unmapping memory", sys_munmap((void *)list[i], PROBE_PAGE));
	return now() - from;
}

void bench_allocate(const struct bench *b) {
	if (!b->how || text_eq(b->how, "heap")) {
		bench_batches(b, ALLOCATIONS, heap);
	} else if (text_eq(b->how, "map")) {
		if (b->batch > 1 << 16)
			bench_fail(b, "a batch of mappings is 65536 at most", 0);
		bench_batches(b, MAPPINGS, mappings);
	} else {
		bench_fail(b, "--how takes heap or map", 0);
	}
}

#if defined(__clang__)
#pragma clang attribute pop
#endif
