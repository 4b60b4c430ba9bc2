/* text.c: memory, text and buffered writing. */
#include "text.h"

/* The compiler may call these four by itself, and must not turn their own
 * loops into calls of themselves. */
void *memcpy(void *restrict to, const void *restrict from, usize n) {
	u8 *t = to;
	const u8 *f = from;
	while (n--) {
		__asm__ volatile("" ::: "memory");
		*t++ = *f++;
	}
	return to;
}

void *memmove(void *to, const void *from, usize n) {
	u8 *t = to;
	const u8 *f = from;
	if (t < f)
		return memcpy(to, from, n);
	while (n--) {
		__asm__ volatile("" ::: "memory");
		t[n] = f[n];
	}
	return to;
}

void *memset(void *to, int c, usize n) {
	u8 *t = to;
	while (n--) {
		__asm__ volatile("" ::: "memory");
		*t++ = (u8)c;
	}
	return to;
}

int memcmp(const void *a, const void *b, usize n) {
	const u8 *x = a, *y = b;
	for (; n; n--, x++, y++)
		if (*x != *y)
			return *x < *y ? -1 : 1;
	return 0;
}

usize text_len(const char *s) {
	usize n = 0;
	while (s[n]) {
		__asm__ volatile("");
		n++;
	}
	return n;
}

int text_eq(const char *a, const char *b) {
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

int text_begins(const char *s, const char *prefix) {
	while (*prefix)
		if (*s++ != *prefix++)
			return 0;
	return 1;
}

i64 text_num(const char *s, i64 max) {
	i64 v = 0;
	if (!*s)
		return -1;
	for (; *s; s++) {
		if (*s < '0' || *s > '9' || v > max / 10)
			return -1;
		v = v * 10 + (*s - '0');
		if (v > max)
			return -1;
	}
	return v;
}

int text_join(char *to, usize n, const char *a, const char *b) {
	usize la = text_len(a), lb = text_len(b);
	if (la + lb + 1 > n)
		return -ENAMETOOLONG;
	memcpy(to, a, la);
	memcpy(to + la, b, lb + 1);
	return 0;
}

long write_all(int fd, const void *p, usize n) {
	const char *s = p;
	while (n) {
		long w = sys_write(fd, s, n);
		if (w == -EINTR)
			continue;
		if (w == -EAGAIN) { /* somebody made our stream non-blocking */
			struct pollfd f = {fd, POLLOUT, 0};
			w = sys_ppoll(&f, 1, NULL);
			if (w < 0 && w != -EINTR)
				return w;
			continue;
		}
		if (w < 0)
			return w;
		if (w == 0)
			return -EIO;
		s += w;
		n -= (usize)w;
	}
	return 0;
}

long read_file(const char *path, char *p, usize n) {
	usize len = 0;
	long fd = sys_open(path, O_RDONLY);
	if (fd < 0)
		return fd;
	while (len < n - 1) {
		long r = sys_read((int)fd, p + len, n - 1 - len);
		if (r == -EINTR)
			continue;
		if (r < 0) {
			sys_close((int)fd);
			return r;
		}
		if (r == 0)
			break;
		len += (usize)r;
	}
	sys_close((int)fd);
	p[len] = 0;
	return (long)len;
}

void out_flush(struct out *o) {
	if (!o->err)
		o->err = write_all(o->fd, o->data, o->len);
	o->len = 0;
}

void out_bytes(struct out *o, const char *s, usize n) {
	while (n) {
		usize room = sizeof(o->data) - o->len;
		usize part = n < room ? n : room;
		memcpy(o->data + o->len, s, part);
		o->len += part;
		s += part;
		n -= part;
		if (o->len == sizeof(o->data))
			out_flush(o);
	}
}

void out_text(struct out *o, const char *s) { out_bytes(o, s, text_len(s)); }

void out_num(struct out *o, i64 v) {
	char d[20];
	usize i = sizeof(d);
	u64 u = v < 0 ? 0 - (u64)v : (u64)v;
	if (v < 0)
		out_bytes(o, "-", 1);
	do {
		d[--i] = (char)('0' + u % 10);
		u /= 10;
	} while (u);
	out_bytes(o, d + i, sizeof(d) - i);
}

void out_octal(struct out *o, u32 v, int digits) {
	while (digits--) {
		char c = (char)('0' + ((v >> (3 * digits)) & 7));
		out_bytes(o, &c, 1);
	}
}

void out_value(struct out *o, const char *s, usize n) {
	for (; n; s++, n--) {
		u8 c = (u8)*s;
		if (c < ' ' || c == 0x7f || c == '\\') {
			out_bytes(o, "\\", 1);
			out_octal(o, c, 3);
		} else {
			out_bytes(o, s, 1);
		}
	}
}

void complain(int status, const char *what, long err) {
	static struct out o;
	o.fd = 2;
	out_text(&o, "plimsoll-probe: ");
	out_text(&o, what);
	if (err) {
		out_text(&o, ": error ");
		out_num(&o, err < 0 ? -err : err);
	}
	out_text(&o, "\n");
	out_flush(&o);
	sys_exit(status);
}
