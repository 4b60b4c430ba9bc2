/* sha256.c: SHA-256 (FIPS 180-4) of a file. */
#include "task.h"
#include "small.h"
#include "sha256.h"

/* fill reads until the buffer is full or the file ends. */
static long fill(int fd, u8 *p, usize n) {
	usize have = 0;
	while (have < n) {
		long r = sys_read(fd, p + have, n - have);
		if (r == -EINTR)
			continue;
		if (r < 0)
			return r;
		if (r == 0)
			break;
		have += (usize)r;
	}
	return (long)have;
}

long sha256_file(const char *path, char hex[65]) {
	static u8 in[65536 + 64]; /* the last block may become two */
	static const char digits[] = "0123456789abcdef";
	u32 h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
	u64 bits = 0;
	long n, fd = sys_open(path, O_RDONLY);
	if (fd < 0)
		return fd;
	do {
		usize len;
		n = fill((int)fd, in, 65536);
		if (n < 0)
			break;
		len = (usize)n;
		bits += (u64)n * 8;
		if (len < 65536) {
			in[len++] = 0x80;
			while (len % 64 != 56)
				in[len++] = 0;
			for (int i = 7; i >= 0; i--)
				in[len++] = (u8)(bits >> (8 * i));
		}
		for (usize at = 0; at < len; at += 64)
			block(h, in + at);
	} while (n == 65536);
	sys_close((int)fd);
	if (n < 0)
		return n;
	for (int i = 0; i < 64; i++)
		hex[i] = digits[h[i / 8] >> (28 - 4 * (i % 8)) & 15];
	hex[64] = 0;
	return 0;
}

#if defined(__clang__)
#pragma clang attribute pop
#endif
