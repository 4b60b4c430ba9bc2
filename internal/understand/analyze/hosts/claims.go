package hosts

import (
	"slices"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
)

// Claims are a study's claims, each judged on every host by that host's own runs.
type Claims struct {
	Schema int            `json:"schema"`
	Hosts  []HostFindings `json:"hosts"`
	Claims []Claim        `json:"claims"`
}

// HostFindings is what was found on one host.
type HostFindings struct {
	Label    string            `json:"label"`
	Findings *analyze.Findings `json:"findings"`
}

// Where says where a claim holds.
type Where string

// The answers.
const (
	HoldsOnAll  Where = "supported"    // on each host that tests it
	FailsOnAll  Where = "contradicted" // on each host that tests it
	DependsOn   Where = "by-host"      // supported on some and contradicted on others
	NotDecided  Where = "open"         // some host does not decide it
	TestedOnNon Where = "not-tested"
)

// Wheres are in the order in which a summary counts them.
var Wheres = []Where{HoldsOnAll, FailsOnAll, DependsOn, NotDecided, TestedOnNon}

// Claim is what hosts say of one claim.
type Claim struct {
	ID    string `json:"id"`
	Says  string `json:"says"`
	Where Where  `json:"where"`
	// Supported to NotTested count hosts.
	Supported    int                       `json:"supported"`
	Contradicted int                       `json:"contradicted"`
	Inconclusive int                       `json:"inconclusive"`
	NotTested    int                       `json:"not_tested"`
	Published    []analyze.PublishedNumber `json:"published,omitempty"`
	// Differs are what the paper had otherwise and which is judged all the same, on any
	// host that tests the claim.
	Differs []Differing `json:"differs,omitempty"`
	// Hosts are in the order of Claims.Hosts; nil where a host's runs lack the claim.
	Hosts []*analyze.Finding `json:"-"`
}

// Differing is what the paper had otherwise, and where.
type Differing struct {
	record.StandIn
	// On are the hosts that have it so, by label; empty where each has that tests the claim.
	On []string `json:"on,omitempty"`
}

// Tested is on how many hosts a claim is tested.
func (c *Claim) Tested() int { return c.Supported + c.Contradicted + c.Inconclusive }

// ClaimsOf sets what was found on several hosts side by side. Numbers of two hosts are
// never put into one verdict: a claim is a matter of each machine.
func ClaimsOf(found []HostFindings) *Claims {
	out := &Claims{Schema: schema, Hosts: found, Claims: []Claim{}}
	at := map[string]int{}
	for i, h := range found {
		for k := range h.Findings.Claims {
			f := &h.Findings.Claims[k]
			n, ok := at[f.ID]
			if !ok {
				n = len(out.Claims)
				at[f.ID] = n
				out.Claims = append(out.Claims, Claim{ID: f.ID, Says: f.Says, Published: f.Published, Hosts: make([]*analyze.Finding, len(found))})
			}
			out.Claims[n].Hosts[i] = f
		}
	}
	for i := range out.Claims {
		out.Claims[i].judge()
		out.Claims[i].differ(found)
	}
	return out
}

// differ gathers what is not as in the paper from the hosts that test the claim.
func (c *Claim) differ(found []HostFindings) {
	for i, f := range c.Hosts {
		if f == nil || f.Verdict == analyze.ClaimNotTested {
			continue
		}
		for _, s := range f.Differs {
			at := slices.IndexFunc(c.Differs, func(d Differing) bool { return d.Aspect == s.Aspect && d.Paper == s.Paper && d.Here == s.Here })
			if at < 0 {
				at = len(c.Differs)
				c.Differs = append(c.Differs, Differing{StandIn: s})
			}
			c.Differs[at].On = append(c.Differs[at].On, found[i].Label)
		}
	}
	for i := range c.Differs {
		if d := &c.Differs[i]; len(d.On) == c.Tested() {
			d.On = nil
		}
	}
}

func (c *Claim) judge() {
	least := 1.0
	for _, f := range c.Hosts {
		switch {
		case f == nil || f.Verdict == analyze.ClaimNotTested:
			c.NotTested++
		case f.Verdict == analyze.ClaimSupported:
			c.Supported++
		case f.Verdict == analyze.ClaimContradicted:
			c.Contradicted++
			if f.Decides != nil && f.Decides.Holm != nil {
				least = min(least, *f.Decides.Holm)
			} else {
				least = 0 // cells of a feature table have no chance in them
			}
		default:
			c.Inconclusive++
		}
	}
	switch n := c.Tested(); {
	case n == 0:
		c.Where = TestedOnNon
	case c.Supported == n:
		c.Where = HoldsOnAll
	case c.Contradicted == n:
		c.Where = FailsOnAll
	// One of many hosts contradicts by chance: Bonferroni over those that test it.
	case c.Supported > 0 && c.Contradicted > 0 && least*float64(n) < sample.Alpha:
		c.Where = DependsOn
	default:
		c.Where = NotDecided
	}
}
