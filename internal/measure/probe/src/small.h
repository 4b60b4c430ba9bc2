/* small.h: the functions of a file that includes it, as its last header, are
 * made small rather than fast: nothing of theirs is measured to the instruction,
 * and the program's size is part of what every container loads. */
#if defined(__clang__)
#pragma clang attribute push(__attribute__((minsize)), apply_to = function)
#endif
