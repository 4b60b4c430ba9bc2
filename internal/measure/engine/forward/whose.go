package forward

import (
	"net/netip"
	"strings"
)

// A rule is for the packets of a bridge, by its name, or of a network that the
// host routes, by its prefix, such as 10.213.7.0/24: no interface has a slash in
// its name.
func routed(whose string) bool { return strings.Contains(whose, "/") }

// packets are the terms of a rule as iptables takes and lists them.
func packets(whose string) []string {
	if routed(whose) {
		return []string{"-s", whose, "-d", whose}
	}
	return []string{"-i", whose, "-o", whose}
}

// matches are those terms as nft takes and lists them; numbers are floats, as
// those of JSON that is read back.
func matches(whose string) []any {
	equal := func(left map[string]any, right any) any {
		return map[string]any{"match": map[string]any{"op": "==", "left": left, "right": right}}
	}
	if p, err := netip.ParsePrefix(whose); routed(whose) && err == nil {
		of := func(field string) any {
			return equal(map[string]any{"payload": map[string]any{"protocol": "ip", "field": field}},
				map[string]any{"prefix": map[string]any{"addr": p.Addr().String(), "len": float64(p.Bits())}})
		}
		return []any{of("saddr"), of("daddr")}
	}
	of := func(key string) any { return equal(map[string]any{"meta": map[string]any{"key": key}}, whose) }
	return []any{of("iifname"), of("oifname")}
}
