/* report.h: what can be seen from inside, as lines "k KEY VALUE". */
#ifndef PROBE_REPORT_H
#define PROBE_REPORT_H

#include "text.h"

void report(struct out *o);

/* For the report's own files. */
void report_text(struct out *o, const char *key, const char *value);
void report_num(struct out *o, const char *key, i64 v);
void report_pair(struct out *o, const char *prefix, const char *key, const char *value, usize n);
void report_cgroup(struct out *o);
void report_mounts(struct out *o);

/* Lines reads a file line by line; what a line has over its buffer is lost. */
struct lines {
	int fd;
	usize at, have;
	char in[4096];
	char line[16384];
	usize len;
};
long lines_open(struct lines *l, const char *path);
/* lines_next gives the next line, without its end and with a NUL; 0 at the end. */
int lines_next(struct lines *l);
void lines_close(struct lines *l);

#endif
