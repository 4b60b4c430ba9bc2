package analyze

import "fmt"

func percent(f float64) string { return fmt.Sprintf("%.3g %%", 100*f) }
