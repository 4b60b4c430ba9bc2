package features

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/engine/catalogue"
	"plimsoll/internal/engine/enginetest"
	"plimsoll/internal/record"
)

func TestDev(t *testing.T) {
	e := os.Getenv("DEV_ENGINE")
	if e == "" {
		t.Skip()
	}
	var fs []string
	if f := os.Getenv("DEV_FEATURES"); f != "" {
		fs = strings.Split(f, ",")
	}
	kit := enginetest.Kit(t)
	last := time.Now()
	res, err := Run(context.Background(), Options{Kit: kit, All: catalogue.All(), Engines: strings.Split(e, ","), Features: fs,
		Tried: func(e, f string, c record.FeatureCell) {
			fmt.Printf("%-12s %-24s %-8s %5dms %s\n", e, f, c.Value, time.Since(last).Milliseconds(), c.Why)
			last = time.Now()
			if os.Getenv("DEV_EVIDENCE") != "" {
				for _, x := range c.Evidence {
					fmt.Printf("     $ %s   -> %d\n       %s\n", strings.Join(x.Command, " "), x.Status, strings.ReplaceAll(x.Output, "\n", "\n       "))
				}
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range res.Engines {
		if e.Missing != "" {
			fmt.Println(e.Name, e.Missing)
		}
	}
	for _, e := range catalogue.All() {
		left, err := e.Leftovers(context.Background(), kit, kit.RunID)
		if err != nil {
			t.Error(err)
		}
		for _, l := range left {
			t.Errorf("left: %s %s %s", e.Info().Name, l.Kind, l.Name)
			_ = l.Remove(context.Background())
		}
	}
}
