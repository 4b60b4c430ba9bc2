/* bench_pages.c: what virtual memory costs: a page fault, and an access whose
 * translation is not in the TLB. */
#include "bench.h"
#include "small.h"

/* advise puts --pages into force: small (no huge ones), huge (the kernel may
 * give them), default (as the machine is set up). */
static void advise(const struct bench *b, void *p, usize n) {
	int advice;
	long r;
	if (!b->pages || text_eq(b->pages, "default"))
		return;
	if (text_eq(b->pages, "small"))
		advice = PROBE_MADV_NOHUGEPAGE;
	else if (text_eq(b->pages, "huge"))
		advice = PROBE_MADV_HUGEPAGE;
	else
		bench_fail(b, "--pages takes default, small or huge", 0);
	r = sys_madvise(p, n, advice);
	if (advice == PROBE_MADV_NOHUGEPAGE && r == -EINVAL)
		return; /* this kernel has none */
	bench_check(b, "madvise", r);
}

static void touch(volatile u8 *p, usize n) {
	for (usize at = 0; at < n; at += PROBE_PAGE)
		p[at] = 1;
}

static i64 faults_so_far(const struct bench *b) {
	struct rusage ru;
	bench_check(b, "getrusage", sys_getrusage(&ru));
	return ru.ru_minflt;
}

/* Fresh anonymous memory is mapped, each page of it written to once, which is
 * what is timed, and unmapped. */
void bench_faults(const struct bench *b) {
	static i64 took[BENCH_REPETITIONS];
	usize n = (usize)bench_default(b->bytes, 64 << 20) & ~(usize)(PROBE_PAGE - 1);
	i64 repetitions = bench_default(b->repetitions, 10), pages = (i64)(n / PROBE_PAGE), faults = 0, sum = 0;
	if (!n)
		bench_fail(b, "--bytes is less than a page", 0);
	for (i64 r = 0; r < repetitions; r++) {
		u8 *p = sys_anonymous(n);
		i64 before, from;
		bench_check(b, "mapping memory", failed_at(p));
		advise(b, p, n);
		before = faults_so_far(b);
		from = now();
		touch(p, n);
		took[r] = now() - from;
		faults += faults_so_far(b) - before;
		sum += took[r];
		bench_check(b, "unmapping memory", sys_munmap(p, n));
	}
	i64 middle = median_of(took, (usize)repetitions);
	json_begin(b->name);
	json_text("pages", b->pages ? b->pages : "default");
	json_num("bytes", (i64)n);
	json_num("repetitions", repetitions);
	json_num("faults", faults);
	json_num("ns", sum);
	json_real("ns_per_page", (double)middle / (double)pages);
	json_real("best_ns_per_page", (double)took[0] / (double)pages);
	json_real("ns_per_fault", (double)sum / (double)(faults > 0 ? faults : 1));
	json_end();
}

static u64 seed = 88172645463325252ULL;

/* xorshift64 (Marsaglia 2003): the same order at every run. */
static u64 next(void) {
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* slot is the address in a page that is read: another cache line in each, so
 * that the lines do not all fall into one set of the cache. */
static void **slot(u8 *p, u32 page) { return (void **)(p + (usize)page * PROBE_PAGE + (page * 7 % 64) * 64); }

/* ring links the pages into one cycle in random order (Sattolo 1986). */
static void ring(u8 *p, u32 *order, u32 pages) {
	for (u32 i = 0; i < pages; i++)
		order[i] = i;
	for (u32 i = pages - 1; i > 0; i--) {
		u32 k = (u32)(next() % i), was = order[i];
		order[i] = order[k];
		order[k] = was;
	}
	for (u32 i = 0; i < pages; i++)
		*slot(p, order[i]) = slot(p, order[(i + 1) % pages]);
}

static i64 chase(void **at, i64 steps) {
	i64 from = now();
	for (i64 i = 0; i < steps; i++)
		at = *at;
	__asm__ volatile("" ::"r"(at)); /* the end of the chain is needed */
	return now() - from;
}

/* One read in each page, each address coming out of the read before, over
 * working sets of ever more pages: ns for an access. */
void bench_tlb(const struct bench *b) {
	static const u32 sizes[] = {16, 64, 256, 1024, 4096, 16384, 65536};
	static const char *const names[] = {"16", "64", "256", "1024", "4096", "16384", "65536"};
	static i64 took[BENCH_REPETITIONS];
	const u32 most = sizes[COUNT(sizes) - 1];
	i64 steps = bench_default(b->count, 1 << 20), repetitions = bench_default(b->repetitions, 5);
	usize n = (usize)most * PROBE_PAGE;
	u8 *p = sys_anonymous(n);
	u32 *order = sys_anonymous(most * sizeof(u32));
	bench_check(b, "mapping memory", failed_at(p));
	bench_check(b, "mapping memory", failed_at(order));
	advise(b, p, n);
	touch(p, n);
	json_begin(b->name);
	json_text("pages", b->pages ? b->pages : "default");
	json_num("accesses", steps);
	json_num("repetitions", repetitions);
	json_open("ns");
	for (usize i = 0; i < COUNT(sizes); i++) {
		ring(p, order, sizes[i]);
		chase(slot(p, 0), sizes[i]); /* once around: now all is where it will be */
		for (i64 r = 0; r < repetitions; r++)
			took[r] = chase(slot(p, 0), steps);
		json_real(names[i], (double)median_of(took, (usize)repetitions) / (double)steps);
	}
	json_close();
	json_end();
}

#if defined(__clang__)
#pragma clang attribute pop
#endif
