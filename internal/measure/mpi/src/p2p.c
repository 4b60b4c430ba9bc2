/*
 * p2p.c: latency and bandwidth between two ranks, as the OSU micro-benchmarks
 * define them (https://mvapich.cse.ohio-state.edu/benchmarks/): latency is half
 * of a round trip of blocking sends and receives; bandwidth is what a window of
 * non-blocking sends carries, each window answered by one message of 4 bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi.h"
#include "tests.h"

enum { DATA = 1, ANSWER = 2, LARGE = 8192 };

static void pair(const struct options *o)
{
	if (mpi.size != 2)
		wrong("%s is between two ranks, and there are %d", o->test, mpi.size);
}

/* chosen gives the numbers of OSU's programs where none were given: another one
 * for messages above 8 KiB. */
static void chosen(const struct options *o, long small, long large, long *iterations, long *warmup)
{
	int big = o->size > LARGE;
	*iterations = o->iterations > 0 ? o->iterations : big ? large : small;
	*warmup = o->warmup >= 0 ? o->warmup : (big ? large : small) / (big ? 10 : 100);
}

/* trips is what so many round trips take, after some that do not count. */
static int64_t trips(char *out, char *in, int size, long warmup, long iterations)
{
	int64_t begin = 0;
	for (long i = 0; i < warmup + iterations; i++) {
		if (i == warmup)
			begin = now();
		if (mpi.rank == 0) {
			mpi.Send(out, size, mpi.byte, 1, DATA, mpi.world);
			mpi.Recv(in, size, mpi.byte, 1, DATA, mpi.world, mpi.ignore);
		} else {
			mpi.Recv(in, size, mpi.byte, 0, DATA, mpi.world, mpi.ignore);
			mpi.Send(in, size, mpi.byte, 0, DATA, mpi.world);
		}
	}
	return now() - begin;
}

void latency(const struct options *o)
{
	pair(o);
	long iterations, warmup;
	chosen(o, 10000, 1000, &iterations, &warmup);
	int size = (int)o->size;
	/* OSU's programs receive into another buffer than they send from. NetPIPE has
	 * one: each message is then one that the other side has just written, which is
	 * slower where caches are not shared. */
	char *out = room(o->size, 1), *in = o->one_buffer ? out : room(o->size, 2);
	int64_t shortest = 0;
	long k = 0;
	mpi.Barrier(mpi.world);
	do {
		int64_t took = trips(out, in, size, k == 0 ? warmup : 0, iterations);
		if (k == 0 || took < shortest)
			shortest = took;
	} while (++k < o->best);
	if (mpi.rank != 0)
		return;
	if (!o->one_buffer && memcmp(out, in, (size_t)size) != 0)
		wrong("what came back is not what was sent");
	printf(",\"iterations\":%ld,\"latency_ns\":%.3f", iterations, (double)shortest / 2 / (double)iterations);
}

void bandwidth(const struct options *o)
{
	pair(o);
	long iterations, warmup;
	chosen(o, 100, 20, &iterations, &warmup);
	if (o->warmup < 0)
		warmup = o->size > LARGE ? 2 : 10;
	if (o->window < 1 || o->window > 4096)
		wrong("a window of %ld messages; it can be 1 to 4096", o->window);
	int size = (int)o->size, window = (int)o->window;
	char *out = room(o->size, 1), *in = room(o->size, 2), answer[4] = {0};
	char *requests = calloc((size_t)window, (size_t)mpi.request_size);
	if (requests == NULL)
		wrong("no memory for %d requests", window);
	int64_t begin = 0;
	mpi.Barrier(mpi.world);
	for (long i = 0; i < warmup + iterations; i++) {
		if (i == warmup)
			begin = now();
		for (int k = 0; k < window; k++) {
			char *request = requests + k * mpi.request_size;
			if (mpi.rank == 0)
				mpi.Isend(out, size, mpi.byte, 1, DATA, mpi.world, request);
			else
				mpi.Irecv(in, size, mpi.byte, 0, DATA, mpi.world, request);
		}
		mpi.Waitall(window, requests, mpi.ignore);
		if (mpi.rank == 0)
			mpi.Recv(answer, 4, mpi.byte, 1, ANSWER, mpi.world, mpi.ignore);
		else
			mpi.Send(answer, 4, mpi.byte, 0, ANSWER, mpi.world);
	}
	int64_t took = now() - begin;
	/* The one who received tells whether it was the right thing: both patterns
	 * are known on both sides. */
	if (mpi.rank == 1 && memcmp(in, out, (size_t)size) != 0)
		wrong("what arrived is not what was sent");
	if (mpi.rank == 0)
		printf(",\"iterations\":%ld,\"window\":%d,\"bandwidth_bytes_per_second\":%.3f", iterations, window,
		       (double)size * window * (double)iterations * 1e9 / (double)took);
	mpi.Barrier(mpi.world); /* rank 1 has looked */
}
