/* start.c: from the kernel to the verb. */
#include "text.h"
#include "verbs.h"

__attribute__((noreturn, used)) void probe_start(usize *sp) {
	i64 start = now(); /* before anything else: this is the payload's first instruction */
	usize argc = sp[0];
	char **argv = (char **)(sp + 1);
	char **env = argv + argc + 1;
	const char *verb = argc > 1 ? argv[1] : "";

	if (text_eq(verb, "payload"))
		verb_payload(start, argv + 2);
	if (text_eq(verb, "task"))
		verb_task(start, argv + 2, env);
	if (text_eq(verb, "nothing"))
		sys_exit(0);
	if (text_eq(verb, "bench"))
		verb_bench(argv[0], argv + 2, env);
	if (text_eq(verb, "init"))
		verb_init(start);
	if (text_eq(verb, "launch"))
		verb_launch(argv + 2);
	if (text_eq(verb, "floor"))
		verb_floor(argv + 2, env);
	if (text_eq(verb, "delay"))
		verb_delay(start, argv + 2, env);
	if (text_eq(verb, "unsynced"))
		verb_unsynced(argv + 2, env);
	if (argc > 0)
		delay_beside(start, argv[0], argv, env);
	complain(STATUS_USAGE,
		 "what shall I do? payload WORD | task WORD STEP... | bench NAME | init | launch | floor LOWER UPPER WORK MERGED -- PROGRAM | "
		 "delay [--only ARG] NS -- PROGRAM | unsynced -- PROGRAM",
		 0);
}
