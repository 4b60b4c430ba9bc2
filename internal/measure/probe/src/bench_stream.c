/* bench_stream.c: copy, scale, add and triad as STREAM defines them (McCalpin,
 * www.cs.virginia.edu/stream): three arrays of doubles, bytes counted as each
 * kernel names them (16 or 24 for an element), the first repetition left out,
 * the values checked at the end. */
#include "bench.h"

enum { KERNELS = 4 };
static const char *const names[KERNELS] = {"copy", "scale", "add", "triad"};
static const i64 bytes_each[KERNELS] = {16, 16, 24, 24};
static const double factor = 3.0;

static double *a, *b, *c;
static i64 elements, parts;

/* Each thread does its part of every kernel, and meets the others after it. */
static struct thread team[BENCH_THREADS];
static u32 round_of; /* a round is one kernel; threads wait for the next */
static u32 busy;     /* threads that are in this round */
static u32 over;
static int kernel;

static void work(i64 part) {
	i64 from = elements / parts * part, to = part == parts - 1 ? elements : from + elements / parts;
	double *restrict x = a, *restrict y = b, *restrict z = c;
	switch (kernel) {
	case 0:
		for (i64 i = from; i < to; i++)
			z[i] = x[i];
		break;
	case 1:
		for (i64 i = from; i < to; i++)
			y[i] = factor * z[i];
		break;
	case 2:
		for (i64 i = from; i < to; i++)
			z[i] = x[i] + y[i];
		break;
	case 3:
		for (i64 i = from; i < to; i++)
			x[i] = y[i] + factor * z[i];
		break;
	default: /* the first touch, by the thread that will use it */
		for (i64 i = from; i < to; i++)
			x[i] = 2.0, y[i] = 2.0, z[i] = 0.0;
	}
	/* The next round reads what this one has written. */
	__asm__ volatile("" ::: "memory");
}

static void wait_until_not(u32 *at, u32 value) {
	while (__atomic_load_n(at, __ATOMIC_ACQUIRE) == value)
		sys_futex(at, 0, value); /* whatever it says, the word is looked at again */
}

static void set(u32 *at, u32 value) {
	__atomic_store_n(at, value, __ATOMIC_RELEASE);
	sys_futex(at, 1, BENCH_THREADS);
}

static void member(void *arg) {
	u32 seen = 0;
	for (;;) {
		wait_until_not(&round_of, seen);
		seen++;
		if (__atomic_load_n(&over, __ATOMIC_ACQUIRE))
			return;
		work((i64)(usize)arg);
		if (__atomic_sub_fetch(&busy, 1, __ATOMIC_ACQ_REL) == 0)
			sys_futex(&busy, 1, 1);
	}
}

/* turn carries out one kernel with all threads; the time in ns. */
static i64 turn(int k) {
	i64 from = now();
	kernel = k;
	if (parts > 1) {
		u32 left;
		__atomic_store_n(&busy, (u32)parts - 1, __ATOMIC_RELEASE);
		set(&round_of, round_of + 1);
		work(0);
		while ((left = __atomic_load_n(&busy, __ATOMIC_ACQUIRE)) != 0)
			sys_futex(&busy, 0, left);
	} else {
		work(0);
	}
	return now() - from;
}

static int wrong(const double *v, double want) {
	for (i64 i = 0; i < elements; i++) {
		double d = (v[i] - want) / want;
		if (d > 1e-13 || d < -1e-13)
			return 1;
	}
	return 0;
}

static void check(const struct bench *o, i64 repetitions) {
	double x = 2.0, y = 2.0, z = 0.0;
	for (i64 i = 0; i < repetitions; i++) {
		z = x;
		y = factor * z;
		z = x + y;
		x = y + factor * z;
	}
	if (wrong(a, x) || wrong(b, y) || wrong(c, z))
		bench_fail(o, "the values are wrong: this machine can't be trusted", 0);
}

static double *array(const struct bench *o, i64 bytes) {
	double *p = sys_anonymous((usize)bytes);
	bench_check(o, "taking memory", failed_at(p));
	return p;
}

void bench_stream(const struct bench *o) {
	static i64 took[KERNELS][BENCH_REPETITIONS];
	i64 repetitions = bench_default(o->repetitions, 10);
	if (repetitions < 2 || repetitions > 300) /* beyond that the values overflow */
		bench_fail(o, "--repetitions takes 2 to 300", 0);
	elements = bench_default(o->bytes, 64 << 20) / 8;
	parts = bench_default(o->threads, 1);
	if (elements < parts)
		bench_fail(o, "--bytes is too small", 0);
	a = array(o, elements * 8), b = array(o, elements * 8), c = array(o, elements * 8);
	for (i64 i = 1; i < parts; i++)
		bench_check(o, "creating a thread", thread_start(&team[i], member, (void *)(usize)i));
	turn(-1);
	for (i64 r = 0; r < repetitions; r++)
		for (int k = 0; k < KERNELS; k++)
			took[k][r] = turn(k);
	__atomic_store_n(&over, 1, __ATOMIC_RELEASE);
	set(&round_of, round_of + 1);
	for (i64 i = 1; i < parts; i++)
		bench_check(o, "joining a thread", thread_join(&team[i]));
	check(o, repetitions);

	json_begin(o->name);
	json_num("array_bytes", elements * 8);
	json_num("threads", parts);
	json_num("repetitions", repetitions);
	for (int k = 0; k < KERNELS; k++) {
		double moved = (double)(bytes_each[k] * elements) * 1e9;
		i64 middle = median_of(took[k] + 1, (usize)repetitions - 1); /* sorted from here */
		json_open(names[k]);
		json_real("best_bytes_per_second", moved / (double)took[k][1]);
		json_real("median_bytes_per_second", moved / (double)middle);
		json_real("worst_bytes_per_second", moved / (double)took[k][repetitions - 1]);
		json_close();
	}
	json_end();
}
