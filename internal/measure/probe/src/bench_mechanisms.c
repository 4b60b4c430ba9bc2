/* bench_mechanisms.c: what the kernel charges for one of the mechanisms that
 * containers are made of, alone and in company. Each worker is a process. In
 * each round all begin at once: each forks a child that prepares what the
 * mechanism needs, uses it, undoes it if the kernel has a call for that, and
 * ends. Only the calls of the mechanism are timed, and the child's end. The
 * kernel is left alone between two rounds, since some of what it does is paid
 * for by the first who asks for it, and not by those who come soon after (a
 * grace period of RCU when a process is moved between control groups). */
#include "bench.h"
#include "mechanism.h"
#include "verbs.h"
#include "small.h"

#define SHARED_ANONYMOUS 0x21 /* MAP_SHARED | MAP_ANONYMOUS */
#define FUTEX_WAKE_ALL 0x7fffffff

enum { WORKERS = 64, TOTAL = 16384 };

/* What a worker and its children write, and nobody else. */
struct place {
	i64 to; /* the end of the round */
	i64 begun, made, undone, left;
	long err;
	const char *what;
};

struct shared {
	u32 gate, done; /* rounds that have begun, and ends of workers in them */
	struct place places[WORKERS];
	i64 make[TOTAL], end[TOTAL];
};

static const struct mechanism *mechanism;
static struct shared *shared;
static struct place *mine;
static i64 rounds;

static int child(void *unused) {
	(void)unused;
	const char *what = "preparing";
	long r = mechanism->prepare ? mechanism->prepare(&what) : 0;
	if (r >= 0 && mechanism->make) {
		what = mechanism->name;
		mine->begun = now();
		r = mechanism->make(&what);
	}
	mine->made = mine->undone = now();
	if (r >= 0 && mechanism->undo) {
		what = "undoing it";
		r = mechanism->undo(&what);
		mine->undone = now();
	}
	if (r < 0)
		mine->err = r, mine->what = what;
	mine->left = now();
	return r < 0;
}

/* 0 where a child did its work and was collected. */
static long once(void) {
	int status = 0;
	long pid, r;
	mine->begun = now(); /* of the fork, unless the child says otherwise */
	pid = spawn_call(__NR_clone, SIGCHLD | mechanism->flags, 0, child, NULL);
	if (pid < 0) {
		mine->what = "fork";
		return mine->err = pid;
	}
	do {
		r = sys_wait4((int)pid, &status, 0, NULL);
	} while (r == -EINTR);
	if (r >= 0 && status && !mine->err)
		r = -ECHILD, mine->what = "a child ended badly";
	return r < 0 ? (mine->err = r) : mine->err;
}

static void finished(void) {
	__atomic_add_fetch(&shared->done, 1, __ATOMIC_SEQ_CST);
	sys_futex(&shared->done, 1, FUTEX_WAKE_ALL);
}

/* begins waits until so many rounds have begun. */
static void begins(i64 round) {
	u32 seen;
	while ((i64)(seen = __atomic_load_n(&shared->gate, __ATOMIC_SEQ_CST)) < round)
		sys_futex(&shared->gate, 0, seen);
}

static void begin(i64 round) {
	__atomic_store_n(&shared->gate, (u32)round, __ATOMIC_SEQ_CST);
	sys_futex(&shared->gate, 1, FUTEX_WAKE_ALL);
}

/* The first round is not counted. Whoever is done stays until all are. */
static int worker(void *arg) {
	i64 index = (i64)arg;
	mine = &shared->places[index];
	sys_prctl(PROBE_PR_SET_PDEATHSIG, 9);
	if (mechanism->worker) {
		mine->what = "preparing";
		mine->err = mechanism->worker((int)index, &mine->what);
	}
	for (i64 round = 0; round <= rounds; round++) {
		begins(round + 1);
		if (mine->err >= 0 && once() >= 0 && round > 0) {
			i64 at = now(), k = index * rounds + round - 1;
			shared->make[k] = mine->made - mine->begun;
			shared->end[k] = mechanism->undo ? mine->undone - mine->made : at - mine->left;
		}
		mine->to = now();
		finished();
	}
	begins(rounds + 2);
	if (mechanism->over)
		mechanism->over((int)index);
	return 0;
}

/* A worker that has been killed would be waited for in vain. */
static void await(const struct bench *b, const int *pids, i64 n, i64 done) {
	u32 seen;
	while ((i64)(seen = __atomic_load_n(&shared->done, __ATOMIC_SEQ_CST)) < done) {
		for (i64 i = 0; i < n; i++)
			if (sys_wait4(pids[i], NULL, PROBE_WNOHANG, NULL) == pids[i] &&
			    __atomic_load_n(&shared->done, __ATOMIC_SEQ_CST) < done)
				bench_fail(b, "a worker ended early", 0);
		SYS(futex, &shared->done, 0, seen, (&(struct __kernel_timespec){1, 0}), NULL, 0);
	}
}

/* together gives the time that all rounds took, from the release to the last
 * worker's end. */
static i64 together(const struct bench *b, const int *pids, i64 n) {
	i64 ns = 0;
	for (i64 round = 0; round <= rounds; round++) {
		i64 begun, to = 0;
		sleep_until(now() + bench_default(b->rest, 60000000));
		begun = now();
		begin(round + 1);
		await(b, pids, n, n * (round + 1));
		for (i64 i = 0; i < n; i++)
			to = shared->places[i].to > to ? shared->places[i].to : to;
		ns += round > 0 ? to - begun : 0;
	}
	begin(rounds + 2);
	return ns;
}

static void say(const struct bench *b, i64 n, i64 ns) {
	for (i64 i = 0; i < n; i++)
		if (shared->places[i].err < 0)
			bench_fail(b, shared->places[i].what, shared->places[i].err);
	json_begin(b->name);
	json_text("how", mechanism->name);
	json_num("threads", n);
	json_rate(n * rounds, ns);
	json_num("make_ns", median_of(shared->make, (usize)(n * rounds)));
	json_num("end_ns", median_of(shared->end, (usize)(n * rounds)));
	json_end();
}

void bench_mechanisms(const struct bench *b) {
	static int pids[WORKERS];
	i64 n = bench_default(b->threads, 1), ns;
	rounds = bench_default(b->repetitions, 20);
	mechanism = mechanism_of(b->how ? b->how : "process");
	if (!mechanism)
		bench_fail(b, "--how takes one of the mechanisms in docs/probe.md", 0);
	if (n > WORKERS || n * rounds > TOTAL)
		bench_fail(b, "at most 64 threads, and 16384 repetitions by all of them", 0);
	shared = (void *)SYS(mmap, NULL, sizeof(*shared), PROBE_PROT_RW, SHARED_ANONYMOUS, -1, 0);
	bench_check(b, "taking memory", failed_at(shared));
	for (i64 i = 0; i < n; i++)
		pids[i] = (int)bench_check(b, "fork", spawn_call(__NR_clone, SIGCHLD, 0, worker, (void *)i));
	ns = together(b, pids, n);
	for (i64 i = 0; i < n; i++)
		while (sys_wait4(pids[i], NULL, 0, NULL) == -EINTR)
			;
	say(b, n, ns);
}

#if defined(__clang__)
#pragma clang attribute pop
#endif
