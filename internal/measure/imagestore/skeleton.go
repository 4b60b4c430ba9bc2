package imagestore

import "plimsoll/internal/measure/image"

// skeleton is what every image has besides its programs: the directories that
// engines mount on and the files that they bind over or write into. It is
// complete on purpose. Most engines create a missing mount point in the root
// directory that they are given; a directory shared by several engines would
// then change under them, and no two would start the same content.
//
// All is readable by everybody, /root too, so that an ordinary user's engine
// can copy and pack it.
func skeleton() tree {
	var t tree
	t.add(entry{path: "/", kind: kindDir, mode: 0o755})
	for _, d := range []string{
		"/bin", "/dev", "/etc", "/home", "/lib", "/lib64", "/media", "/mnt", "/opt", "/proc", "/root", "/run/secrets",
		"/sbin", "/srv", "/sys", "/usr/bin", "/usr/lib", "/usr/local/bin", "/usr/sbin", "/usr/share", "/var/lib", "/var/log",
	} {
		t.add(entry{path: d, kind: kindDir, mode: 0o755})
	}
	for _, d := range []string{"/tmp", "/var/tmp", image.WorkDir} {
		t.add(entry{path: d, kind: kindDir, mode: 0o1777})
	}
	// Podman mounts on it, and makes it where it is missing.
	t.add(entry{path: "/run/.containerenv", kind: kindFile, mode: 0o644})
	t.add(entry{path: "/etc/mtab", kind: kindLink, link: "/proc/mounts"})
	t.add(entry{path: "/var/run", kind: kindLink, link: "/run"})
	for name, text := range map[string]string{
		"group":         "root:x:0:\nnogroup:x:65534:\n",
		"hostname":      "",
		"hosts":         "127.0.0.1\tlocalhost\n::1\tlocalhost\n",
		"localtime":     "",
		"nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
		"passwd":        "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n",
		"resolv.conf":   "",
	} {
		t.add(entry{path: "/etc/" + name, kind: kindFile, mode: 0o644, data: []byte(text)})
	}
	return t
}
