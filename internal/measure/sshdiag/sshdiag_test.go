package sshdiag

import (
	"strings"
	"testing"
)

// What OpenSSH 9.2 prints, as it prints it.
func TestOf(t *testing.T) {
	const changed = "@@@@@@@@@@\n@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\n@@@@@@@@@@\nIT IS POSSIBLE THAT SOMEONE IS DOING SOMETHING NASTY!\nHost key for one has changed and you have requested strict checking.\nHost key verification failed.\n"
	for _, c := range []struct {
		said   string
		port   int
		what   string
		advice string
		lost   bool
	}{
		{changed, 0, "its host key is not the one that known_hosts has", "ssh-keygen -R one, then", false},
		{changed, 22, "its host key is not the one that known_hosts has", "ssh-keygen -R one, then", false},
		{changed, 2222, "its host key is not the one that known_hosts has", "ssh-keygen -R '[one]:2222', then", false},
		{"No ED25519 host key is known for one and you have requested strict checking.\nHost key verification failed.\n", 0, "its host key is unknown", "accepts no key by itself", false},
		{"me@one: Permission denied (publickey).\n", 0, "ssh may not log in as this user with any key it has", "BatchMode", false},
		{"Received disconnect from ::1 port 22:2: Too many authentication failures\nDisconnected from ::1 port 22\n", 0, "the agent has too many keys for this host", "IdentitiesOnly", false},
		{"ssh: Could not resolve hostname one: Name or service not known\n", 0, "there is no host of this name", "", false},
		{"ssh: connect to host one port 22: Connection refused\n", 0, "nothing listens on its ssh port", "", true},
		{"ssh: connect to host one port 22: Connection timed out\n", 0, "it does not answer", "", true},
		{"Timeout, server one not responding.\n", 0, "the connection is lost", "", true},
		{"kex_exchange_identification: Connection closed by remote host\nConnection closed by UNKNOWN port 65535\n", 0, "it has closed the connection", "", true},
	} {
		got, ok := Of(c.said, "one", c.port)
		if !ok || got.What != c.what || !strings.Contains(got.Advice, c.advice) || (got.Advice == "") != (c.advice == "") || got.Lost != c.lost {
			t.Errorf("%q, port %d: %+v, %v", c.said, c.port, got, ok)
		}
	}
	if got, ok := Of("sh: 1: docker: not found\n", "one", 0); ok {
		t.Errorf("what ssh has not said: %+v", got)
	}
}
