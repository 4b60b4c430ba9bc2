package analyze_test

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/common/stats"
	"plimsoll/internal/understand/analyze"
)

// TestThreeAnswersPicture: the picture gives each of its intervals the answer
// that a report gives it.
func TestThreeAnswersPicture(t *testing.T) {
	svg, err := os.ReadFile("../../../docs/pictures/three-answers.svg")
	require.NoError(t, err)
	answers := map[analyze.Verdict]string{analyze.Differs: "differs", analyze.Equal: "equal", analyze.CannotTell: "cannot tell"}
	seen := map[string]int{}
	for _, m := range regexp.MustCompile(`data-value="([0-9.]+)" data-lo="([0-9.]+)" data-hi="([0-9.]+)" data-answer="([a-z ]+)"`).FindAllStringSubmatch(string(svg), -1) {
		var log [3]float64
		for i := range log {
			v, err := strconv.ParseFloat(m[i+1], 64)
			require.NoError(t, err)
			log[i] = math.Log(v)
		}
		v, _ := analyze.VerdictOf(log[0], stats.Interval{Lo: log[1], Hi: log[2]}, 10, 0.01)
		if answers[v] != m[4] {
			t.Errorf("[%s, %s] is drawn as %q and is %q", m[2], m[3], m[4], answers[v])
		}
		seen[m[4]]++
	}
	if len(seen) != 3 {
		t.Errorf("not all three answers are drawn: %v", seen)
	}
}
