/* task_step.c: from a step to a process. What can be looked up or opened
 * before the stamp is. */
#include "task.h"
#include "small.h"

static struct command cmd;
static struct course course;
static char path[4096];

static const char *variable(char **env, const char *prefix) {
	for (; *env; env++)
		if (text_begins(*env, prefix))
			return *env + text_len(prefix);
	return NULL;
}

/* executable tells whether path is a file that we may execute; 0 or -errno. */
static long executable(const char *p) {
	long r = sys_access(p, PROBE_X_OK);
	if (r < 0)
		return r;
	r = sys_open(p, O_PATH | O_DIRECTORY);
	if (r < 0)
		return 0; /* no directory */
	sys_close((int)r);
	return -EACCES;
}

const char *task_find(const char *name, char **env, long *err) {
	const char *list = variable(env, "PATH=");
	usize n = text_len(name);
	for (const char *s = name; *s; s++)
		if (*s == '/') /* a path already: exec says what is wrong with it */
			return name;
	if (!list || !*list)
		list = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
	*err = -ENOENT;
	for (;;) {
		usize len = 0;
		while (list[len] && list[len] != ':')
			len++;
		if (len + n + 3 < sizeof(path)) {
			usize at = len;
			long r;
			memcpy(path, list, len);
			if (len == 0) /* an empty part is the working directory */
				path[at++] = '.';
			path[at] = '/';
			memcpy(path + at + 1, name, n + 1);
			r = executable(path);
			if (r == 0) {
				*err = 0;
				return path;
			}
			if (r == -EACCES)
				*err = r;
		}
		if (!list[len])
			return NULL;
		list += len + 1;
	}
}

long task_mkdirs(const char *dir) {
	long r = 0;
	usize n = text_len(dir);
	if (n >= sizeof(path))
		return -ENAMETOOLONG;
	memcpy(path, dir, n + 1);
	for (usize i = 1; i <= n; i++) {
		if (path[i] != '/' && path[i] != 0)
			continue;
		path[i] = 0;
		r = sys_mkdir(path, 0755);
		path[i] = i < n ? '/' : 0;
	}
	/* Whether it is a directory, the change to it will tell. */
	return r == -EEXIST || r == -EROFS ? 0 : r;
}

static void closed(int fd, int own) {
	if (own)
		sys_close(fd);
}

void task_start(struct task *t, u32 i) {
	static const struct rusage none;
	static char *nothing[1];
	struct task_step *s = &t->steps[i];
	int fds[3] = {t->in, s->kind == MAIN ? t->out : t->err, t->err};
	char *name = s->argv[0];
	long err = 0, pid = -1;

	if (s->input) {
		err = sys_open(s->input, O_RDONLY);
		fds[0] = (int)err;
	}
	if (err >= 0 && s->output) {
		err = sys_create(s->output, O_WRONLY | O_CREAT | O_TRUNC, 0644);
		fds[1] = (int)err;
	}
	if (err >= 0) {
		err = 0;
		s->program = task_find(name, t->env, &err);
	}
	s->begun = 1;
	s->spawn = now();
	task_begin(i, s, s->spawn);
	if (err >= 0) {
		s->argv[0] = (char *)s->program;
		cmd.argv = s->argv;
		cmd.env = t->env;
		cmd.cgroups = nothing;
		cmd.dir = cmd.chroot = "";
		course = (struct course){0};
		pid = spawn(&cmd, &course, fds, t->pid);
		s->spawn = course.spawn;
		s->argv[0] = name;
	}
	closed(fds[0], s->input && fds[0] >= 0);
	closed(fds[1], s->output && fds[1] >= 0 && fds[1] != t->err && fds[1] != t->out);
	if (pid >= 0 && course.birth.err) { /* it has ended with status 127 already */
		struct rusage ru;
		int status;
		while (sys_wait4((int)pid, &status, 0, &ru) == -EINTR)
			;
	}
	if (err < 0 || pid < 0 || course.birth.err) {
		s->ended = 1;
		s->status = -1;
		s->err = err < 0 ? (int)-err : course.birth.err ? course.birth.err : (int)-pid;
		task_end(i, s, now(), &none);
		return;
	}
	s->pid = (int)pid;
}

#if defined(__clang__)
#pragma clang attribute pop
#endif
