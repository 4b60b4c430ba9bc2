package sample

import "fmt"

// Percent says a fraction as per cent.
func Percent(f float64) string { return fmt.Sprintf("%.3g %%", 100*f) }
