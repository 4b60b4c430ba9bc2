package fake

// Seeded is New with another course of chance.
func Seeded(seed uint64) *Fake {
	f := New()
	f.seed = seed
	return f
}
