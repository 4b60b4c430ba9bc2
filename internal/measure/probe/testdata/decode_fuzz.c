/* decode_fuzz.c: feeds frames from stdin (length, body) to the launcher's
 * decoder, in a hosted build with sanitizers. Each body lies at the end of an
 * allocation of its own size, so that reading one byte over it is caught.
 * Prints for each frame 1 where it was accepted, else 0. */
#include "../src/job.h"

void *malloc(usize n);
void free(void *p);

static int take(void *to, usize n) {
	char *p = to;
	while (n) {
		long r = sys_read(0, p, n);
		if (r <= 0)
			return 0;
		p += r;
		n -= (usize)r;
	}
	return 1;
}

static usize use(char **list) {
	usize n = 0;
	for (; *list; list++)
		for (char *s = *list; *s; s++)
			n++;
	return n;
}

int main(void) {
	static struct job job;
	u32 n;
	while (take(&n, sizeof(n))) {
		char *body = malloc(n), verdict;
		usize used = 0;
		if (!body || !take(body, n))
			return 1;
		job.ncommands = 1;
		job.output_limit = 1;
		decode_more(&job, body, n); /* of another form: it must survive */
		verdict = decode_job(&job, body, n) ? '0' : '1';
		if (verdict == '1') /* whatever is accepted must be safe to use */
			for (u32 i = 0; i < job.ncommands; i++)
				used += use(job.commands[i].argv) + use(job.commands[i].env) + use(job.commands[i].cgroups);
		free(body);
		if (used > MAX_FRAME || sys_write(1, &verdict, 1) != 1)
			return 1;
	}
	return 0;
}
