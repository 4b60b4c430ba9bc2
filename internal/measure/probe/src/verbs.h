/* verbs.h: what the program can do. Each verb is a file. */
#ifndef PROBE_VERBS_H
#define PROBE_VERBS_H

#include "sys.h"

/* Exit statuses of the program itself. */
enum {
	STATUS_USAGE = 64,   /* wrong arguments */
	STATUS_IO = 74,      /* stdout could not be written */
	STATUS_SYSTEM = 71,  /* a system call failed */
	STATUS_NO_EXEC = 127 /* the program could not be started */
};

#define MAX_NS 3600000000000LL /* no sleep is longer than an hour */
void sleep_until(i64 at);

/* start is the stamp of the program's first instruction; argv begins after
 * the verb; self is argv[0]. All end the process. */
__attribute__((noreturn)) void verb_payload(i64 start, char **argv);
__attribute__((noreturn)) void verb_init(i64 start);
__attribute__((noreturn)) void verb_task(i64 start, char **argv, char **env);
__attribute__((noreturn)) void verb_bench(char *self, char **argv, char **env);
__attribute__((noreturn)) void verb_launch(char **argv);
__attribute__((noreturn)) void verb_floor(char **argv, char **env);
__attribute__((noreturn)) void verb_delay(i64 start, char **argv, char **env);
__attribute__((noreturn)) void verb_unsynced(char **argv, char **env);
/* delay_beside acts as the runtime that the file beside the program names; it
 * returns where there is no such file. */
void delay_beside(i64 start, const char *self, char **argv, char **env);

#endif
