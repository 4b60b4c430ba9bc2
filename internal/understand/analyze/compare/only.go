package compare

import "slices"

// Only leaves the cells of these metrics, as a family of their own: it is over them
// alone that their tests are then corrected. Of each that has changed the steps are
// still told, also where it is a step of another one itself.
func (c *Changes) Only(metrics []string) {
	all := c.Cells
	c.Cells = slices.DeleteFunc(slices.Clone(all), func(ch Change) bool { return !slices.Contains(metrics, ch.Metric.ID) })
	c.Estimate()
	asked := c.Cells
	c.Cells, c.Moved = all, nil
	for i := range asked {
		if whole := &asked[i]; changed(whole) {
			parts, _ := c.partsOf(whole)
			if steps := stepsOf(parts); len(steps) > 0 {
				c.Moved = append(c.Moved, c.movedBy(whole, steps))
			}
		}
	}
	c.Cells = asked
}
