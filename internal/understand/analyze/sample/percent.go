package sample

import (
	"fmt"
	"math"
)

// Percent says a fraction as per cent, by three digits, or whole where it has more.
func Percent(f float64) string {
	if math.Abs(100*f) >= 999.5 && math.Abs(f) < 1e6 {
		return fmt.Sprintf("%.0f %%", 100*f)
	}
	return fmt.Sprintf("%.3g %%", 100*f)
}
