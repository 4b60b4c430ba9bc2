/* lines.c: a file line by line, without reading all of it into memory. */
#include "report.h"

long lines_open(struct lines *l, const char *path) {
	long fd = sys_open(path, O_RDONLY);
	l->fd = (int)fd;
	l->at = l->have = l->len = 0;
	return fd < 0 ? fd : 0;
}

int lines_next(struct lines *l) {
	int any = 0;
	l->len = 0;
	for (;;) {
		if (l->at == l->have) {
			long n;
			do {
				n = sys_read(l->fd, l->in, sizeof(l->in));
			} while (n == -EINTR);
			if (n <= 0) {
				l->line[l->len] = 0;
				return any;
			}
			l->at = 0;
			l->have = (usize)n;
		}
		while (l->at < l->have) {
			char c = l->in[l->at++];
			any = 1;
			if (c == '\n') {
				l->line[l->len] = 0;
				return 1;
			}
			if (l->len < sizeof(l->line) - 1)
				l->line[l->len++] = c;
		}
	}
}

void lines_close(struct lines *l) { sys_close(l->fd); }
