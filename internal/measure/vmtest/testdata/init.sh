#!/bin/busybox sh
# The first process: takes the root file system from the first disk into memory.
b=/bin/busybox
$b mount -t devtmpfs none /dev
$b mount -t proc none /proc
exec >/dev/console 2>&1
for m in /*.ko; do $b insmod "$m" || echo "no module $m"; done
$b mount -t tmpfs -o mode=755 none /root
$b tar -x -f /dev/vda -C /root
$b mount -o move /dev /root/dev
$b umount /proc
exec $b switch_root /root /bin/sh /init
