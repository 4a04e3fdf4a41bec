package reconcile

// Changes is the last of the entries of a log of one target, by what distinguishes them. The zero value has none.
type Changes[E comparable] struct{ last E }

// New is true for an entry that differs from the last one, which it replaces.
func (c *Changes[E]) New(entry E) bool {
	differs := entry != c.last
	c.last = entry
	return differs
}
