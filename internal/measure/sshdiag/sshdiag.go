// Package sshdiag turns what OpenSSH says when it can't connect into a sentence for people,
// with what may help. It knows the words of its messages, which have no codes.
package sshdiag

import (
	"strconv"
	"strings"
)

// Failed is ssh's status where it is ssh itself that has failed, and not what it ran there.
const Failed = 255

// Complaint is why there is no connection. What has no subject: "its host key is unknown".
type Complaint struct {
	What string
	// Advice is what may help; empty where nothing is known.
	Advice string
	// Lost: the host may be there again later.
	Lost bool
}

// complaints are what ssh says when it can't connect. Source: OpenSSH 9.2,
// ssh.c, sshconnect.c, sshconnect2.c, clientloop.c.
var complaints = []struct {
	has, what, advice string
	lost              bool
}{
	{"REMOTE HOST IDENTIFICATION HAS CHANGED", "its host key is not the one that known_hosts has", "if the host was set up anew: ssh-keygen -R HOST, then log in by ssh once and compare the fingerprint", false},
	{"Host key verification failed", "its host key is unknown", "log in by ssh once and compare the fingerprint; Plimsoll accepts no key by itself", false},
	{"Permission denied", "ssh may not log in as this user with any key it has", "see that `ssh -o BatchMode=yes` logs in there: a key in the agent, or one in the configuration", false},
	{"Too many authentication failures", "the agent has too many keys for this host", "name the right one by IdentityFile and IdentitiesOnly in ssh's configuration", false},
	{"Could not resolve hostname", "there is no host of this name", "", false},
	{"Connection refused", "nothing listens on its ssh port", "", true},
	{"timed out", "it does not answer", "", true},
	{"No route to host", "there is no route to it", "", true},
	{"Network is unreachable", "its network can't be reached", "", true},
	{"not responding", "the connection is lost", "", true},
	{"closed by remote host", "it has closed the connection", "", true},
	{"Connection reset", "it has broken off the connection", "", true},
	{"Connection closed", "it has closed the connection", "", true},
	{"Broken pipe", "the connection is lost", "", true},
}

// Of makes one of ssh's words; false where they are none that is known. The port is 0 where
// nobody named one.
func Of(said, host string, port int) (Complaint, bool) {
	for _, c := range complaints {
		if strings.Contains(said, c.has) {
			return Complaint{What: c.what, Advice: strings.ReplaceAll(c.advice, "HOST", known(host, port)), Lost: c.lost}, true
		}
	}
	return Complaint{}, false
}

// known is a host as known_hosts has it, for a shell.
func known(host string, port int) string {
	if port == 0 || port == 22 {
		return host
	}
	return "'[" + host + "]:" + strconv.Itoa(port) + "'"
}
