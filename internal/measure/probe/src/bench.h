/* bench.h: small benchmarks of the operating system and of memory, each with
 * one JSON object on standard output. What is measured takes no memory but
 * what it is about. */
#ifndef PROBE_BENCH_H
#define PROBE_BENCH_H

#include "text.h"

enum { BENCH_THREADS = 256, BENCH_REPETITIONS = 1000 };

struct bench {
	const char *name;
	char *self, **env;
	/* 0, or NULL: not given */
	i64 seconds, count, batch, bytes, threads, repetitions, block, rest;
	const char *dir, *how, *pages;
	int direct, sync;
};

/* bench.c */
__attribute__((noreturn)) void bench_fail(const struct bench *b, const char *what, long err);
/* bench_check fails where a system call did; else it gives its result. */
long bench_check(const struct bench *b, const char *what, long r);
i64 bench_default(i64 given, i64 otherwise);
/* bench_batches does batches of operations until the time or the number asked
 * for is reached, and writes the whole object. A batch gives its own duration. */
void bench_batches(const struct bench *b, i64 batch, i64 (*run)(const struct bench *, i64 n));

/* json.c: json_begin writes the opening and "name", json_end the end. */
void json_begin(const char *name);
void json_text(const char *key, const char *v);
void json_num(const char *key, i64 v);
/* json_real writes three decimals. */
void json_real(const char *key, double v);
void json_open(const char *key);
void json_close(void);
void json_end(void);
/* json_rate writes count, ns and per_second. */
void json_rate(i64 count, i64 ns);

/* median_of sorts. */
i64 median_of(i64 *v, usize n);

/* threads.c: a thread on a stack of its own; arg is handed on. */
struct thread {
	u32 alive; /* the kernel clears it at the thread's end */
	void *stack;
	void (*run)(void *);
	void *arg;
};
enum { THREAD_STACK = 65536 };
long thread_start(struct thread *t, void (*run)(void *), void *arg);
long thread_join(struct thread *t);

void bench_files(const struct bench *b);
void bench_processes(const struct bench *b);
void bench_threads(const struct bench *b);
void bench_programs(const struct bench *b);
void bench_allocate(const struct bench *b);
void bench_stream(const struct bench *b);
void bench_faults(const struct bench *b);
void bench_tlb(const struct bench *b);
void bench_small_files(const struct bench *b);
void bench_threaded_io(const struct bench *b);
void bench_mechanisms(const struct bench *b);

#endif
