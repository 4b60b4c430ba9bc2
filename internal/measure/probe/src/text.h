/* text.h: memory, text and buffered writing. */
#ifndef PROBE_TEXT_H
#define PROBE_TEXT_H

#include "sys.h"

void *memcpy(void *restrict to, const void *restrict from, usize n);
void *memmove(void *to, const void *from, usize n);
void *memset(void *to, int c, usize n);
int memcmp(const void *a, const void *b, usize n);

usize text_len(const char *s);
int text_eq(const char *a, const char *b);
int text_begins(const char *s, const char *prefix);
/* text_num reads a whole decimal number; -1 where s is none or over max. */
i64 text_num(const char *s, i64 max);
/* text_join puts a and b into to, of size n; 0, or -ENAMETOOLONG. */
int text_join(char *to, usize n, const char *a, const char *b);

/* write_all writes everything, through interruptions and partial writes;
 * 0 or -errno. */
long write_all(int fd, const void *p, usize n);
/* read_file reads the beginning of a file and ends it with a NUL; the number
 * of bytes or -errno. */
long read_file(const char *path, char *p, usize n);

/* A buffer that is written out when it is full. */
struct out {
	int fd;
	long err; /* the first failure */
	usize len;
	char data[16384];
};
void out_flush(struct out *o);
void out_bytes(struct out *o, const char *s, usize n);
void out_text(struct out *o, const char *s);
void out_num(struct out *o, i64 v);
void out_octal(struct out *o, u32 v, int digits);
/* out_value writes text that came from elsewhere: control characters and
 * backslashes as \ooo, so that a line stays a line. */
void out_value(struct out *o, const char *s, usize n);

/* complain writes "plimsoll-probe: what: error N" to stderr and ends. */
__attribute__((noreturn)) void complain(int status, const char *what, long err);

#endif
