/* bench.c: which benchmark, and with what. */
#include "bench.h"
#include "verbs.h"
#include "small.h"

static const struct {
	const char *name;
	void (*run)(const struct bench *);
} list[] = {
	{"create-files", bench_files},
	{"create-processes", bench_processes},
	{"create-threads", bench_threads},
	{"launch-programs", bench_programs},
	{"allocate-memory", bench_allocate},
	{"stream", bench_stream},
	{"page-faults", bench_faults},
	{"tlb", bench_tlb},
	{"small-files", bench_small_files},
	{"threaded-io", bench_threaded_io},
	{"mechanisms", bench_mechanisms},
};

void bench_fail(const struct bench *b, const char *what, long err) {
	static char text[256];
	text_join(text, sizeof(text), b->name, ": ");
	usize n = text_len(text);
	text_join(text + n, sizeof(text) - n, what, "");
	complain(STATUS_SYSTEM, text, err);
}

long bench_check(const struct bench *b, const char *what, long r) {
	if (r < 0)
		bench_fail(b, what, r);
	return r;
}

i64 bench_default(i64 given, i64 otherwise) { return given ? given : otherwise; }

void bench_batches(const struct bench *b, i64 batch, i64 (*run)(const struct bench *, i64 n)) {
	i64 done = 0, ns = 0, best = 0, best_of = 1, batches = 0;
	i64 until = now() + bench_default(b->seconds, 5) * 1000000000;
	batch = bench_default(b->batch, batch);
	do {
		i64 n = b->count && b->count - done < batch ? b->count - done : batch;
		i64 took = run(b, n);
		if (took < 1)
			took = 1;
		/* Least time for one operation; a last, shorter batch counts too. */
		if (!best || (double)took / (double)n < (double)best / (double)best_of)
			best = took, best_of = n;
		done += n;
		ns += took;
		batches++;
	} while (b->count ? done < b->count : now() < until);
	json_begin(b->name);
	json_rate(done, ns);
	json_num("batch", batch);
	json_num("batches", batches);
	json_real("ns_each", (double)ns / (double)done);
	json_real("best_ns_each", (double)best / (double)best_of);
	json_end();
}

static i64 *number(struct bench *b, const char *option) {
	const struct {
		const char *name;
		i64 *to;
	} numbers[] = {
		{"--seconds", &b->seconds}, {"--count", &b->count},	{"--batch", &b->batch},
		{"--bytes", &b->bytes},	    {"--threads", &b->threads}, {"--repetitions", &b->repetitions},
		{"--block", &b->block},	    {"--rest", &b->rest},
	};
	for (usize i = 0; i < COUNT(numbers); i++)
		if (text_eq(option, numbers[i].name))
			return numbers[i].to;
	return NULL;
}

static const char **word(struct bench *b, const char *option) {
	if (text_eq(option, "--dir"))
		return &b->dir;
	if (text_eq(option, "--how"))
		return &b->how;
	if (text_eq(option, "--pages"))
		return &b->pages;
	return NULL;
}

static void parse(struct bench *b, char **argv) {
	for (; *argv; argv++) {
		i64 *n = number(b, *argv);
		const char **w = word(b, *argv);
		if (text_eq(*argv, "--direct")) {
			b->direct = 1;
		} else if (text_eq(*argv, "--sync")) {
			b->sync = 1;
		} else if (n && argv[1]) {
			*n = text_num(*++argv, 1LL << 46);
			if (*n < 1)
				complain(STATUS_USAGE, "bench: a number must be at least 1", 0);
		} else if (w && argv[1]) {
			*w = *++argv;
		} else {
			complain(STATUS_USAGE, "bench: unknown argument", 0);
		}
	}
	if (b->threads > BENCH_THREADS || b->repetitions > BENCH_REPETITIONS || b->seconds > 86400)
		complain(STATUS_USAGE, "bench: at most 256 threads, 1000 repetitions, 86400 seconds", 0);
}

void verb_bench(char *self, char **argv, char **env) {
	static struct bench b;
	b.self = self;
	b.env = env;
	for (usize i = 0; argv[0] && i < COUNT(list); i++) {
		if (!text_eq(argv[0], list[i].name))
			continue;
		b.name = list[i].name;
		parse(&b, argv + 1);
		list[i].run(&b);
		sys_exit(0);
	}
	complain(STATUS_USAGE,
		 "usage: bench create-files | create-processes | create-threads | launch-programs | allocate-memory | "
		 "stream | page-faults | tlb | small-files | threaded-io | mechanisms [OPTION VALUE]...",
		 0);
}

#if defined(__clang__)
#pragma clang attribute pop
#endif
