/* arch.c: the few lines of assembly. */
#include "sys.h"

#if defined(__x86_64__)
/* At entry rsp points at argc; the ABI wants it aligned at the call. */
__asm__(".text\n.globl _start\n.type _start,@function\n_start:\n"
	"	xor %ebp,%ebp\n"
	"	mov %rsp,%rdi\n"
	"	and $-16,%rsp\n"
	"	call probe_start\n"
	"	hlt\n");

/* The registers that the kernel does not take arguments from (r8 and r9 for
 * clone without CLONE_SETTLS, and for clone3) reach the child unchanged. */
__asm__(".text\n.globl spawn_call\n.type spawn_call,@function\nspawn_call:\n"
	"	mov %rdi,%rax\n"
	"	mov %rsi,%rdi\n"
	"	mov %rdx,%rsi\n"
	"	mov %r8,%r9\n"
	"	mov %rcx,%r8\n"
	"	xor %edx,%edx\n"
	"	xor %r10d,%r10d\n"
	"	syscall\n"
	"	test %rax,%rax\n"
	"	jnz 1f\n"
	"	xor %ebp,%ebp\n"
	"	and $-16,%rsp\n" /* a forked child stands in the middle of a frame */
	"	mov %r9,%rdi\n"
	"	call *%r8\n"
	"	mov %eax,%edi\n"
	"	mov $231,%eax\n" /* exit_group */
	"	syscall\n"
	"	hlt\n"
	"1:	ret\n");
#elif defined(__aarch64__)
__asm__(".text\n.globl _start\n.type _start,%function\n_start:\n"
	"	mov x29,#0\n"
	"	mov x30,#0\n"
	"	mov x0,sp\n"
	"	bl probe_start\n"
	"	brk #1\n");

__asm__(".text\n.globl spawn_call\n.type spawn_call,%function\nspawn_call:\n"
	"	mov x8,x0\n"
	"	mov x0,x1\n"
	"	mov x1,x2\n"
	"	mov x5,x3\n"
	"	mov x6,x4\n"
	"	mov x2,#0\n"
	"	mov x3,#0\n"
	"	mov x4,#0\n"
	"	svc 0\n"
	"	cbnz x0,1f\n"
	"	mov x29,#0\n"
	"	mov x0,x6\n"
	"	blr x5\n"
	"	mov x8,#94\n" /* exit_group */
	"	svc 0\n"
	"	brk #1\n"
	"1:	ret\n");
#endif

__asm__(".section .note.GNU-stack,\"\",%progbits\n.text\n");
