/*
 * collective.c: one collective operation over and over. Each rank adds up the
 * time of its own calls; between two of them there is a barrier that does not
 * count. The result is the mean over the ranks, with the fastest and the slowest
 * rank, as the OSU micro-benchmarks print them. The size is what each rank gives
 * each other one (all-to-all, scatter, gather) or what is reduced (allreduce).
 */
#include <stdio.h>
#include <string.h>

#include "mpi.h"
#include "tests.h"

enum { LARGE = 8192 };

struct work {
	int size, count; /* bytes, and doubles in them */
	char *out, *in;
};

static void once_alltoall(struct work *w) { mpi.Alltoall(w->out, w->size, mpi.byte, w->in, w->size, mpi.byte, mpi.world); }
static void once_scatter(struct work *w) { mpi.Scatter(w->out, w->size, mpi.byte, w->in, w->size, mpi.byte, 0, mpi.world); }
static void once_gather(struct work *w) { mpi.Gather(w->out, w->size, mpi.byte, w->in, w->size, mpi.byte, 0, mpi.world); }
static void once_allreduce(struct work *w) { mpi.Allreduce(w->out, w->in, w->count, mpi.number, mpi.sum, mpi.world); }
static void once_barrier(struct work *w)
{
	(void)w;
	mpi.Barrier(mpi.world);
}

/* mark and find: rank r writes "from r to k" into what is for k, so that one who
 * has it knows who sent it, and for whom. */
static void mark(char *at, int size, int from, int to)
{
	for (int i = 0; i < size; i++)
		at[i] = (char)(from * 31 + to * 7 + i % 113);
}

static int marked(const char *at, int size, int from, int to)
{
	for (int i = 0; i < size; i++)
		if (at[i] != (char)(from * 31 + to * 7 + i % 113))
			return 0;
	return 1;
}

static void prepare(const char *test, struct work *w)
{
	if (strcmp(test, "allreduce") == 0) {
		double value = mpi.rank + 1;
		for (int i = 0; i < w->count; i++)
			memcpy(w->out + (size_t)i * sizeof value, &value, sizeof value);
		return;
	}
	for (int k = 0; k < mpi.size; k++)
		mark(w->out + (size_t)k * (size_t)w->size, w->size, mpi.rank, k);
}

static int right(const char *test, const struct work *w)
{
	if (strcmp(test, "allreduce") == 0) {
		double want = mpi.size * (mpi.size + 1) / 2.0, value;
		for (int i = 0; i < w->count; i++) {
			memcpy(&value, w->in + (size_t)i * sizeof value, sizeof value);
			if (value != want)
				return 0;
		}
	}
	if (strcmp(test, "alltoall") == 0)
		for (int k = 0; k < mpi.size; k++)
			if (!marked(w->in + (size_t)k * (size_t)w->size, w->size, k, mpi.rank))
				return 0;
	if (strcmp(test, "scatter") == 0)
		return marked(w->in, w->size, 0, mpi.rank);
	if (strcmp(test, "gather") == 0 && mpi.rank == 0)
		for (int k = 0; k < mpi.size; k++)
			if (!marked(w->in + (size_t)k * (size_t)w->size, w->size, k, 0))
				return 0;
	return 1;
}

void collective(const struct options *o)
{
	static const struct {
		const char *name;
		void (*once)(struct work *);
	} all[] = {{"alltoall", once_alltoall}, {"scatter", once_scatter}, {"gather", once_gather}, {"allreduce", once_allreduce}, {"barrier", once_barrier}};
	void (*once)(struct work *) = NULL;
	for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
		if (strcmp(all[i].name, o->test) == 0)
			once = all[i].once;
	int big = o->size > LARGE;
	long iterations = o->iterations > 0 ? o->iterations : big ? 100 : 1000;
	long warmup = o->warmup >= 0 ? o->warmup : big ? 10 : 100;
	struct work w = {.size = (int)o->size, .count = (int)(o->size / (long)sizeof(double))};
	if (strcmp(o->test, "allreduce") == 0 && w.count < 1)
		w.count = 1, w.size = sizeof(double);
	w.out = room((long)w.size * mpi.size, 1);
	w.in = room((long)w.size * mpi.size, 2);
	prepare(o->test, &w);
	int64_t mine = 0;
	for (long i = 0; i < warmup + iterations; i++) {
		mpi.Barrier(mpi.world);
		int64_t begin = now();
		once(&w);
		int64_t end = now();
		if (i >= warmup)
			mine += end - begin;
	}
	if (!right(o->test, &w))
		wrong("%s of %d bytes: what arrived is not what was sent", o->test, w.size);
	double mean = (double)mine / (double)iterations;
	double sum = sum_of_all(mean), slowest = most(mean), fastest = least(mean);
	if (mpi.rank == 0)
		printf(",\"iterations\":%ld,\"mean_ns\":%.3f,\"fastest_rank_ns\":%.3f,\"slowest_rank_ns\":%.3f", iterations,
		       sum / mpi.size, fastest, slowest);
}
