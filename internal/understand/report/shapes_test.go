package report

import (
	"testing"

	"plimsoll/internal/common/golden"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/advise"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/ablation"
	"plimsoll/internal/understand/analyze/audit"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/history"
	"plimsoll/internal/understand/analyze/hosts"
	"plimsoll/internal/understand/analyze/kernel"
	"plimsoll/internal/understand/analyze/releases"
	"plimsoll/internal/understand/analyze/steady"
	"plimsoll/internal/understand/timeline"
)

// schemas are what each kind of result writes as JSON, and the golden file of its fields.
var schemas = map[string]golden.Schema{
	"Ablations":       golden.Of[[]*ablation.Waterfall]("ablations"),
	"Advice":          golden.Of[*advise.Advice]("advice"),
	"auditFormats":    golden.Of[*audit.Audit]("audit"),
	"Changes":         golden.Of[*compare.Changes]("changes"),
	"Charges":         golden.Of[[]*kernel.Charges]("charges"),
	"Comparison":      golden.Of[*timeline.Comparison]("explanations"),
	"Explanation":     golden.Of[*timeline.Explanation]("explanation"),
	"factorFormats":   golden.Of[factorsJSON]("factors"),
	"featureFormats":  golden.Of[*record.Features]("features"),
	"figuresFormats":  golden.Of[figuresJSON]("figures"),
	"findingFormats":  golden.Of[*analyze.Findings]("findings"),
	"Histories":       golden.Of[*history.Histories]("history"),
	"HostAdvice":      golden.Of[*advise.ByHost]("hosts_advice"),
	"HostChanges":     golden.Of[*hosts.Changes]("hosts_changes"),
	"HostClaims":      golden.Of[*hosts.Claims]("hosts_claims"),
	"HostFactors":     golden.Of[hostFactorsJSON]("hosts_factors"),
	"Hosts":           golden.Of[*hosts.Hosts]("hosts"),
	"overFormats":     golden.Of[overJSON]("over"),
	"overheadFormats": golden.Of[*analyze.Overhead]("overhead"),
	"Pairs":           golden.Of[*Pair]("pair"),
	"papersFormats":   golden.Of[papersJSON]("papers"),
	"Rates":           golden.Of[*timeline.Rates]("rates"),
	"Releases":        golden.Of[*releases.Releases]("releases"),
	"resultFormats":   golden.Of[*analyze.Result]("result"),
	"States":          golden.Of[[]State]("states"),
	"Steadiness":      golden.Of[[]*steady.Table]("steadiness"),
}

// TestJSONShape: other programs read the JSON of each kind of result.
func TestJSONShape(t *testing.T) { golden.Schemas(t, schemas, "asJSON", "jsonOf") }
