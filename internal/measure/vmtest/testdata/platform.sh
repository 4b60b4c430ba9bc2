#!/bin/sh
# Runs in a platform as root: what users do, and after each part what it has left. KILLS is how many
# runs are killed.
out=/platform/out
part() { echo "== $(cut -d' ' -f1 /proc/uptime) $*" | tee /dev/console; }
# did NAME COMMAND...: what it prints, and its status
did() {
	name=$1
	shift
	"$@" >"$out/$name.out" 2>"$out/$name.err"
	echo $? >"$out/$name.status"
}
# state NAME: what a run may leave, as text. Slices of systemd's own stay once they were needed,
# and Podman's proxy of DHCP ends when it likes.
state() {
	{
		systemctl list-units --all --plain --no-legend --full --type=service,socket,scope,slice,mount | awk '{print "unit", $1, $2, $3, $4}' |
			grep -vE ' (machine|user|system|app)\.slice | session-|netavark-dhcp-proxy| systemd-| user@| run-|modprobe@|init.scope'
		su -l alice -c 'XDG_RUNTIME_DIR=/run/user/1000 systemctl --user list-units --all --plain --no-legend --full --type=service,scope,slice' |
			awk '{print "alice", $1, $2, $3, $4}' | grep -E 'plimsoll|docker|libpod|run-'
		find /sys/fs/cgroup -type d -name '*plimsoll*' -printf 'cgroup %p\n'
		find /var/lib /run /home/alice/.local -maxdepth 3 -name '*plimsoll*' ! -path '*/plimsoll/images*' ! -path '/run/plimsoll*' ! -path '/run/user/1000/plimsoll*' ! -path '/var/lib/plimsoll*' ! -path '*/state/plimsoll*' -printf 'file %p\n'
		awk '{print "mount", $4, $5}' /proc/self/mountinfo
		ip -o link | awk '{print "link", $2}'
		nft list ruleset | sed 's/counter packets [0-9]* bytes [0-9]*//; s/^/nft /'
		sed 's/^/profile /' /sys/kernel/security/apparmor/profiles
		docker ps -aq | sed 's/^/docker /'
		podman ps -aq --external | sed 's/^/podman /'
		ctr namespaces ls -q | sed 's/^/containerd /'
	} 2>/dev/null | sort >"$out/state-$1"
}
# ended waits for the Podmans that a killed run has left to their own end, and for systemd, which
# notices later that their mount is gone.
ended() {
	tries=0
	while pgrep -x podman >/dev/null && [ $tries -lt 60 ]; do
		tries=$((tries + 1))
		sleep 1
	done
	sleep 2
}
cp plimsoll /usr/bin/
mkdir /study
cp ./*.yaml /study
cd /study || exit 1
su -l alice -c 'cp /study/* .'
if [ "$LEVEL" = quick ]; then
	. /platform/in/quick.sh
	exit
fi
# Each engine once, so that what engines make for themselves is there.
did warm plimsoll run --wait --force --progress none platform.yaml -o /study/warm
did cleaned-0 plimsoll clean
state before
part engines
did engines plimsoll engines --format json
did doctor plimsoll doctor --format json
for unit in lxd incus; do systemctl is-active $unit.service; done >"$out/idle"
part root
did root plimsoll run --wait --force --progress none platform.yaml -o "$out/root-record"
state root
part private
did private env SUDO_USER=alice plimsoll run --wait --force --progress none private.yaml -o "$out/private-record"
did cleaned-1 plimsoll clean
state private
part density
did density plimsoll run --wait --force --progress none density.yaml -o "$out/density-record"
state density
part alice
did alice-engines su -l alice -c 'plimsoll engines --format json'
did alice su -l alice -c 'plimsoll run --wait --force --progress none platform.yaml -o record'
did cleaned-2 su -l alice -c 'plimsoll clean'
cp -r /home/alice/record "$out/alice-record"
state alice
part sudo
did sudo su -l alice -c 'sudo plimsoll run --wait --force --progress none --engine podman,bubblewrap platform.yaml -o by-sudo'
did cleaned-3 su -l alice -c 'sudo plimsoll clean'
cp -r /home/alice/by-sudo "$out/sudo-record"
state sudo
part explain
did explain plimsoll explain --wait --progress none --starts 3 oci runtime=crun
state explain
n=0
while [ $n -lt "${KILLS:-3}" ]; do
	part kill $n
	SUDO_USER=alice plimsoll run --wait --force --progress none killed.yaml -o /study/killed-$n >/dev/null 2>&1 &
	pid=$!
	sleep $((6 + n * 7 % 31))
	kill -9 $pid
	wait $pid
	did clean-$n plimsoll clean
	ended
	state killed-$n
	n=$((n + 1))
done
part end
