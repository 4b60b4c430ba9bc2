/* bench_io.c: many small files, and large ones by several threads. */
#include "bench.h"
#include "small.h"

#ifndef O_DIRECT
#define O_DIRECT 040000
#endif

static char prefix[4000];

static void prepare(const struct bench *b) {
	if (text_join(prefix, sizeof(prefix), b->dir ? b->dir : ".", "/plimsoll-") < 0)
		bench_fail(b, "the directory's name is too long", 0);
}

static void name_of(char path[4096], i64 v) {
	usize n = text_len(prefix);
	memcpy(path, prefix, n);
	for (int i = 7; i >= 0; i--, v >>= 4)
		path[n + (usize)i] = "0123456789abcdef"[v & 15];
	path[n + 8] = 0;
}

static i64 read_all(int fd, u8 *p, usize n) {
	usize have = 0;
	while (have < n) {
		long r = sys_read(fd, p + have, n - have);
		if (r == -EINTR)
			continue;
		if (r < 0)
			return r;
		if (r == 0)
			return -EIO; /* shorter than it was written */
		have += (usize)r;
	}
	return 0;
}

static void rate(const char *key, i64 count, i64 ns) {
	json_open(key);
	json_rate(count, ns);
	json_close();
}

/* All are written, then all are read, then all are deleted. With --sync each
 * is on its device before the next. */
void bench_small_files(const struct bench *b) {
	char path[4096];
	i64 n = bench_default(b->count, 10000), at[4];
	usize bytes = (usize)bench_default(b->bytes, 4096);
	u8 *data = sys_anonymous(bytes);
	bench_check(b, "taking memory", failed_at(data));
	for (usize i = 0; i < bytes; i++)
		data[i] = (u8)(i * 31 + i / 256);
	prepare(b);
	at[0] = now();
	for (i64 i = 0; i < n; i++) {
		name_of(path, i);
		long fd = bench_check(b, "creating a file", sys_create(path, O_WRONLY | O_CREAT | O_EXCL, 0666));
		bench_check(b, "writing a file", write_all((int)fd, data, bytes));
		if (b->sync)
			bench_check(b, "fsync", sys_fsync((int)fd));
		bench_check(b, "closing a file", sys_close((int)fd));
	}
	at[1] = now();
	for (i64 i = 0; i < n; i++) {
		name_of(path, i);
		long fd = bench_check(b, "opening a file", sys_open(path, O_RDONLY));
		bench_check(b, "reading a file", read_all((int)fd, data, bytes));
		bench_check(b, "closing a file", sys_close((int)fd));
	}
	at[2] = now();
	for (i64 i = 0; i < n; i++) {
		name_of(path, i);
		bench_check(b, "deleting a file", sys_unlink(path));
	}
	at[3] = now();
	json_begin(b->name);
	json_num("bytes", (i64)bytes);
	rate("write", n, at[1] - at[0]);
	rate("read", n, at[2] - at[1]);
	rate("delete", n, at[3] - at[2]);
	json_end();
}

struct stream {
	const struct bench *b;
	i64 index;
	usize bytes, block;
	u8 *data;
	int writing;
	const char *where; /* of a failure */
	long err;
};

static void fail(struct stream *s, const char *where, long err) {
	if (!s->err)
		s->where = where, s->err = err;
}

static void transfer(void *arg) {
	struct stream *s = arg;
	char path[4096];
	int flags = (s->writing ? O_WRONLY | O_CREAT | O_EXCL : O_RDONLY) | (s->b->direct ? O_DIRECT : 0);
	long fd, r = 0;
	name_of(path, s->index);
	fd = sys_create(path, flags, 0666);
	if (fd < 0) {
		fail(s, s->b->direct ? "opening a file (with O_DIRECT, which not every file system has)" : "opening a file", fd);
		return;
	}
	for (usize done = 0; r >= 0 && done < s->bytes; done += s->block)
		r = s->writing ? write_all((int)fd, s->data, s->block) : read_all((int)fd, s->data, s->block);
	if (r < 0)
		fail(s, s->writing ? "writing" : "reading", r);
	if (s->writing) {
		r = sys_fsync((int)fd);
		if (r < 0)
			fail(s, "fsync", r);
	}
	r = sys_close((int)fd);
	if (r < 0)
		fail(s, "closing a file", r);
}

static struct thread team[BENCH_THREADS];
static struct stream streams[BENCH_THREADS];

static i64 phase(const struct bench *b, i64 threads, int writing) {
	i64 from = now();
	for (i64 i = 0; i < threads; i++) {
		streams[i].writing = writing;
		bench_check(b, "creating a thread", thread_start(&team[i], transfer, &streams[i]));
	}
	for (i64 i = 0; i < threads; i++)
		bench_check(b, "joining a thread", thread_join(&team[i]));
	return now() - from;
}

static void clear(i64 threads) {
	char path[4096];
	for (i64 i = 0; i < threads; i++) {
		name_of(path, i);
		sys_unlink(path); /* one that was not made is not there */
	}
}

static void look(const struct bench *b, i64 threads) {
	for (i64 i = 0; i < threads; i++) {
		if (!streams[i].err)
			continue;
		clear(threads);
		bench_fail(b, streams[i].where, streams[i].err);
	}
}

/* Each thread writes a file of its own from its beginning to its end and
 * synchronises it; when all have, each reads its file. */
void bench_threaded_io(const struct bench *b) {
	i64 threads = bench_default(b->threads, 4), write, read;
	usize block = (usize)bench_default(b->block, 1 << 20), bytes = (usize)bench_default(b->bytes, 256 << 20);
	if (bytes % block)
		bench_fail(b, "--bytes must be a multiple of --block", 0);
	prepare(b);
	for (i64 i = 0; i < threads; i++) {
		struct stream *s = &streams[i];
		s->b = b, s->index = i, s->bytes = bytes, s->block = block;
		s->data = sys_anonymous(block); /* on a page, as O_DIRECT wants it */
		bench_check(b, "taking memory", failed_at(s->data));
		for (usize k = 0; k < block; k++)
			s->data[k] = (u8)(k * 31 + k / 256 + (usize)i);
	}
	write = phase(b, threads, 1);
	look(b, threads);
	read = phase(b, threads, 0);
	look(b, threads);
	clear(threads);
	json_begin(b->name);
	json_num("threads", threads);
	json_num("bytes_each", (i64)bytes);
	json_num("block", (i64)block);
	json_text("access", b->direct ? "direct" : "buffered");
	json_open("write");
	json_num("ns", write);
	json_real("bytes_per_second", (double)threads * (double)bytes * 1e9 / (double)write);
	json_close();
	json_open("read");
	json_num("ns", read);
	json_real("bytes_per_second", (double)threads * (double)bytes * 1e9 / (double)read);
	json_close();
	json_end();
}

#if defined(__clang__)
#pragma clang attribute pop
#endif
