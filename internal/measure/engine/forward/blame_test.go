package forward

import "testing"

// Who drops is read from the rules of machines with Docker, ufw and none of both.
func TestBlameRules(t *testing.T) {
	const docker = "-P FORWARD DROP\n-N DOCKER\n-N DOCKER-USER\n-A FORWARD -j DOCKER-USER\n-A FORWARD -i docker0 -o docker0 -j ACCEPT\n"
	for name, c := range map[string]struct{ rules, bridge, who, fix string }{
		"Docker": {docker, "lxcbr0", "the FORWARD policy of Docker", "iptables -I DOCKER-USER -i lxcbr0 -o lxcbr0 -j ACCEPT"},
		"Docker before 17.06, which has no DOCKER-USER": {"-P FORWARD DROP\n-N DOCKER\n", "lxcbr0", "the FORWARD policy of Docker", "iptables -I FORWARD -i lxcbr0 -o lxcbr0 -j ACCEPT"},
		"containers of Docker that may not talk (icc=false)": {"-P FORWARD ACCEPT\n-N DOCKER\n-N DOCKER-USER\n-A FORWARD -i docker0 -o docker0 -j DROP\n", "docker0",
			"the packet filter's rule -A FORWARD -i docker0 -o docker0 -j DROP", "iptables -I DOCKER-USER -i docker0 -o docker0 -j ACCEPT"},
		"ufw":      {"-P FORWARD DROP\n-N ufw-before-forward\n-N DOCKER\n", "lxdbr0", "the FORWARD policy of ufw", "ufw route allow in on lxdbr0 out on lxdbr0"},
		"a policy": {"-P INPUT ACCEPT\n-P FORWARD DROP\n", "lxcbr0", "the packet filter's FORWARD policy", "iptables -I FORWARD -i lxcbr0 -o lxcbr0 -j ACCEPT"},
		"a last rule": {"-P FORWARD ACCEPT\n-A FORWARD -m comment --comment \"no more\" -j DROP\n", "br0",
			"the packet filter's rule -A FORWARD -m comment --comment \"no more\" -j DROP", "iptables -I FORWARD -i br0 -o br0 -j ACCEPT"},
		"nobody":              {"-P FORWARD ACCEPT\n-A FORWARD -s 192.0.2.0/24 -j DROP\n-A FORWARD -i br1 -o br1 -j DROP\n", "br0", "", ""},
		"INPUT is no FORWARD": {"-P INPUT DROP\n-P FORWARD ACCEPT\n-A INPUT -j DROP\n", "br0", "", ""},
	} {
		if who, fix := blameRules(c.rules, c.bridge); who != c.who || fix != c.fix {
			t.Errorf("%s: %q, %q\nwant %q, %q", name, who, fix, c.who, c.fix)
		}
	}
}
