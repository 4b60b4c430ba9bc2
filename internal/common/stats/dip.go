package stats

// dip is Hartigan's dip: the largest distance between the distribution of the
// sorted values and the unimodal distribution nearest to it (Hartigan &
// Hartigan 1985, Annals of Statistics 13, 70–84). 0 for fewer than 4 values.
func dip(sorted []float64) float64 {
	n := len(sorted)
	if n < 4 || sorted[0] == sorted[n-1] {
		return 0
	}
	// Distances are counted in steps of the distribution, twice over, so that
	// the smallest possible dip, half a step, is 1.
	low, high := 0, n-1
	dip := 1.0
	for {
		gcm := hull(sorted, low, high, +1)
		lcm := hull(sorted, low, high, -1)
		// The largest gap between the two, and the knots next to it.
		gap, newLow, newHigh := widest(sorted, gcm, lcm)
		if gap <= dip {
			break
		}
		dip = max(dip,
			sag(sorted, gcm, newLow, +1),
			sag(sorted, lcm, newHigh, -1))
		if newLow <= low && newHigh >= high || newLow >= newHigh {
			break
		}
		low, high = newLow, newHigh
	}
	return dip / (2 * float64(n))
}

// hull gives the knots of the greatest convex minorant (sign +1) or the least
// concave majorant (−1) of the points (x[i], i), i from low to high.
func hull(x []float64, low, high int, sign float64) []int {
	k := []int{low}
	for i := low + 1; i <= high; i++ {
		for len(k) >= 2 {
			a, b := k[len(k)-2], k[len(k)-1]
			// b goes when it does not lie strictly on the hull's side of a–i.
			cross := (x[b]-x[a])*float64(i-a) - (x[i]-x[a])*float64(b-a)
			if cross*sign > 0 {
				break
			}
			k = k[:len(k)-1]
		}
		k = append(k, i)
	}
	return k
}

// at evaluates a hull, as a function of x, at x[i].
func at(x []float64, knots []int, seg, i int) float64 {
	a, b := knots[seg], knots[seg+1]
	if x[b] == x[a] {
		return float64(b)
	}
	return float64(a) + float64(b-a)*(x[i]-x[a])/(x[b]-x[a])
}

// widest finds the largest vertical distance between minorant and majorant,
// looking at the knots of both, in half steps, and the modal interval that
// belongs to it.
func widest(x []float64, gcm, lcm []int) (gap float64, low, high int) {
	low, high = gcm[0], gcm[len(gcm)-1]
	seg := 0
	for g := range gcm {
		for seg < len(lcm)-2 && lcm[seg+1] <= gcm[g] {
			seg++
		}
		if d := 2 * (at(x, lcm, seg, gcm[g]) - float64(gcm[g]) + 1); d > gap && g < len(gcm)-1 {
			gap, low, high = d, gcm[g], lcm[seg+1]
		}
	}
	seg = 0
	for l := range lcm {
		for seg < len(gcm)-2 && gcm[seg+1] < lcm[l] {
			seg++
		}
		if d := 2 * (float64(lcm[l]) - at(x, gcm, seg, lcm[l]) + 1); d > gap && l > 0 {
			gap, low, high = d, gcm[seg], lcm[l]
		}
	}
	return gap, low, high
}

// sag is the largest distance, in half steps, between the hull and the points
// left of (sign +1) or right of (−1) the new modal interval.
func sag(x []float64, knots []int, bound int, sign float64) float64 {
	most := 0.0
	for s := 0; s+1 < len(knots); s++ {
		a, b := knots[s], knots[s+1]
		if sign > 0 && b > bound || sign < 0 && a < bound {
			continue
		}
		for i := a; i <= b; i++ {
			d := (float64(i) - at(x, knots, s, i)) * sign
			most = max(most, d+1)
		}
	}
	return most
}
