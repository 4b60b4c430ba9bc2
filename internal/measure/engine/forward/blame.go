package forward

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"plimsoll/internal/measure/engine"
)

// Blame says who drops the packets from a bridge to itself, of which it is known
// that they do not pass, and the command that would let them; "" where nobody
// is found. It changes nothing.
func Blame(ctx context.Context, kit *engine.Kit, bridge string) (who, fix string) {
	if !kit.Root || !filtered() {
		return "", ""
	}
	programs := backends(ctx, kit)
	for _, p := range programs {
		text, err := p.call(ctx, "-S")
		if err != nil {
			continue
		}
		if who, fix = blameRules(string(text), bridge); who != "" {
			return who, strings.Replace(fix, "iptables ", filepath.Base(p.path)+" ", 1)
		}
	}
	more, _ := chains(ctx, kit, programs) // what can't be asked can't be blamed
	for _, c := range more {
		if c.Policy == "drop" {
			return fmt.Sprintf("the policy of the chain %s %s %s of nftables", c.Family, c.Table, c.Name),
				fmt.Sprintf("nft insert rule %s %s %s iifname %s oifname %s accept", c.Family, c.Table, c.Name, bridge, bridge)
		}
	}
	for _, c := range more {
		if c.Table == "firewalld" {
			return "firewalld", "firewall-cmd --zone=trusted --add-interface=" + bridge
		}
	}
	return "", ""
}

// blameRules reads what `iptables -S` prints: who drops, if it is one of these.
func blameRules(text, bridge string) (who, fix string) {
	at := regexp.QuoteMeta(bridge)
	explicit := regexp.MustCompile(`(?m)^-A \S+ -i ` + at + ` -o ` + at + `( -m comment --comment (\S+|"[^"]*"))? -j (DROP|REJECT).*$`)
	last := regexp.MustCompile(`(?m)^-A FORWARD( -m comment --comment (\S+|"[^"]*"))? -j (DROP|REJECT).*$`)
	policy := strings.Contains(text, "-P FORWARD DROP\n")
	chain := func(name string) bool { return strings.Contains(text, "-N "+name+"\n") }
	accept := func(chain string) string {
		return fmt.Sprintf("iptables -I %s -i %s -o %s -j ACCEPT", chain, bridge, bridge)
	}
	before := "FORWARD"
	if chain("DOCKER-USER") { // what Docker passes first and never changes
		before = "DOCKER-USER"
	}
	switch rule := strings.TrimSpace(explicit.FindString(text)); {
	case rule != "":
		return "the packet filter's rule " + rule, accept(before)
	case last.MatchString(text):
		return "the packet filter's rule " + strings.TrimSpace(last.FindString(text)), accept("FORWARD")
	case policy && chain("ufw-before-forward"):
		return "the FORWARD policy of ufw", fmt.Sprintf("ufw route allow in on %s out on %s", bridge, bridge)
	case policy && chain("DOCKER"):
		return "the FORWARD policy of Docker", accept(before)
	case policy:
		return "the packet filter's FORWARD policy", accept("FORWARD")
	}
	return "", ""
}
