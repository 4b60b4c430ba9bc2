/* threads.c: threads without a library. */
#include "bench.h"
#include "small.h"

#define FUTEX_WAIT_OP 0

static int body(void *p) {
	struct thread *t = p;
	/* At the thread's end the kernel clears the word and wakes who waits. */
	sys_set_tid_address(&t->alive);
	t->run(t->arg);
	sys_thread_exit();
}

/* Flags as pthread_create has them, but for thread-local storage. */
long thread_start(struct thread *t, void (*run)(void *), void *arg) {
	const unsigned long flags =
		CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
	long r;
	t->stack = sys_anonymous(THREAD_STACK);
	if (failed_at(t->stack))
		return failed_at(t->stack);
	t->run = run;
	t->arg = arg;
	t->alive = 1;
	r = spawn_call(__NR_clone, flags, (usize)t->stack + THREAD_STACK, body, t);
	if (r < 0) {
		t->alive = 0;
		sys_munmap(t->stack, THREAD_STACK);
	}
	return r;
}

long thread_join(struct thread *t) {
	while (__atomic_load_n(&t->alive, __ATOMIC_ACQUIRE)) {
		long r = sys_futex(&t->alive, FUTEX_WAIT_OP, 1);
		if (r < 0 && r != -EAGAIN && r != -EINTR)
			return r;
	}
	return sys_munmap(t->stack, THREAD_STACK);
}

#if defined(__clang__)
#pragma clang attribute pop
#endif
