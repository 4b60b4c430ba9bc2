package calibrate

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
)

func TestX(t *testing.T) {
	reps, _ := strconv.Atoi(os.Getenv("REPS"))
	k, _ := strconv.Atoi(os.Getenv("K"))
	if reps == 0 {
		t.Skip("")
	}
	for _, s := range Shapes() {
		for _, b := range []int{6, 10, 11, 20, 30, 50, 100} {
			if k > 1 && b > 20 {
				continue
			}
			var c Coverage
			var mu sync.Mutex
			var wg sync.WaitGroup
			for g := range 2 {
				wg.Go(func() {
					x, err := coverage(s, b, k, reps/2, rand.New(rand.NewPCG(uint64(g), uint64(b))))
					if err != nil {
						t.Error(err)
					}
					mu.Lock()
					c.join(x)
					mu.Unlock()
				})
			}
			wg.Wait()
			f := func(t Tally) string { return fmt.Sprintf("%5.1f (%5.1f)", 100*t.Rate(), 100*t.MeanWidth()) }
			fmt.Printf("%-16s %3d ratio %s median %s suite %s between %s | same %4.1f apart %4.1f between %4.1f\n", s.Name, b, f(c.Ratio), f(c.Median), f(c.Suite), f(c.Between), 100*c.Same.Rate(), 100*c.Apart.Rate(), 100*c.BetweenSame.Rate())
		}
	}
}
