/* common.c: what all tests use. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "mpi.h"

void wrong(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	fprintf(stderr, "plimsoll-mpi: rank %d: ", mpi.rank);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	if (mpi.size > 0)
		mpi.Abort(mpi.world, 1);
	exit(1);
}

int64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

void *room(long bytes, int seed)
{
	size_t size = bytes > 0 ? (size_t)bytes : 1;
	unsigned char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		wrong("no memory for %ld bytes", bytes);
	/* Touched, so that no page is missing when it is measured. */
	for (size_t i = 0; i < size; i++)
		p[i] = (unsigned char)(seed + i % 251);
	return p;
}

static double together(double value, handle how)
{
	double all = 0;
	mpi.Reduce(&value, &all, 1, mpi.number, how, 0, mpi.world);
	return all;
}

double sum_of_all(double value) { return together(value, mpi.sum); }
double most(double value) { return together(value, mpi.max); }
double least(double value) { return together(value, mpi.min); }
