//go:build linux

package cli

import (
	"errors"
	"strconv"

	"github.com/spf13/cobra"

	"plimsoll/internal/measure/child"
)

// turn is how a command that measures waits until it may, and shows how far it is.
type turn struct {
	progress    string
	wait, force bool
}

func (t *turn) addTurn(c *cobra.Command) {
	t.addWaiting(c)
	c.Flags().BoolVar(&t.force, "force", false, "measure even if doctor refuses")
}

// addWaiting is for what doctor has no say in.
func (t *turn) addWaiting(c *cobra.Command) {
	waitFlag(c, &t.wait)
	t.progress = "auto"
	c.Flags().Var(new(patience), "patience", "multiply all time limits by `N` (default: learnt from how long a program takes to start here; 1 on most machines)")
	choiceFlag(c, &t.progress, "progress", "how to show progress", progressKinds...)
}

// patience is the flag that stretches time limits.
type patience struct{ text string }

func (p *patience) String() string { return p.text }
func (*patience) Type() string     { return "float" }

func (p *patience) Set(text string) error {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n < 1 || n > 1000 {
		return errors.New("expected a number from 1 to 1000")
	}
	p.text = text
	child.SetPatience(n)
	return nil
}

// progressKinds are how progress can be shown.
var progressKinds = []string{"auto", "bar", "plain", "json", "none"}

func waitFlag(c *cobra.Command, wait *bool) {
	c.Flags().BoolVar(wait, "wait", false, "wait for your turn if another Plimsoll is measuring on this machine: first come, first served")
}
