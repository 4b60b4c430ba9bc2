/*
 * transport.c: what the library says of the way its messages take. Open MPI
 * shows its control variables by the tool interface of MPI-3; one that a plug-in
 * has set by itself, as vader does where it can't copy from process to process,
 * shows what is in force, not what was asked for.
 */
#include <stdio.h>
#include <string.h>

#include "mpi.h"
#include "tests.h"

void text(const char *s)
{
	putchar('"');
	for (; *s != '\0'; s++) {
		unsigned char c = (unsigned char)*s;
		if (c == '"' || c == '\\')
			printf("\\%c", c);
		else if (c < ' ' || c == 0x7f)
			printf("\\u%04x", c);
		else
			putchar(c);
	}
	putchar('"');
}

/* choice prints the name of an enumeration's value. */
static int choice(handle names, int value)
{
	int count = 0, length = 0;
	if (mpi.T_enum_get_info == NULL || mpi.T_enum_get_item == NULL || mpi.T_enum_get_info(names, &count, NULL, &length) != 0)
		return 0;
	for (int i = 0; i < count; i++) {
		int item = 0, room_for = 100;
		char name[100] = "";
		if (mpi.T_enum_get_item(names, i, &item, name, &room_for) == 0 && item == value) {
			text(name);
			return 1;
		}
	}
	return 0;
}

void transport(void)
{
	static const char *const variables[] = {"btl_vader_single_copy_mechanism", "btl_sm_single_copy_mechanism", NULL};
	int provided;
	printf(",\"variables\":{");
	if (mpi.T_init_thread != NULL && mpi.T_init_thread(0, &provided) == 0 && mpi.T_cvar_get_index != NULL && mpi.T_cvar_get_info != NULL &&
	    mpi.T_cvar_handle_alloc != NULL && mpi.T_cvar_read != NULL) {
		const char *before = "";
		for (int i = 0; variables[i] != NULL; i++) {
			int index, length = 0, words = 0, verbosity, bind, scope, count = 0;
			handle kind = 0, names = 0, variable = 0;
			union {
				int number;
				char bytes[256];
			} value = {0};
			if (mpi.T_cvar_get_index(variables[i], &index) != 0 ||
			    mpi.T_cvar_get_info(index, NULL, &length, &verbosity, &kind, &names, NULL, &words, &bind, &scope) != 0 || names == 0 ||
			    mpi.T_cvar_handle_alloc(index, NULL, &variable, &count) != 0 || count != 1 ||
			    mpi.T_cvar_read(variable, &value) != 0)
				continue;
			printf("%s\"%s\":", before, variables[i]);
			before = ",";
			if (!choice(names, value.number))
				printf("\"%d\"", value.number);
		}
		if (mpi.T_finalize != NULL)
			mpi.T_finalize();
	}
	printf("}");
}
