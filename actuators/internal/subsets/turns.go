package subsets

import "hash/fnv"

// Turns returns which member gets each of Slots() new connections in a row, as an index. Member i gets Weight of them, spread
// as evenly as possible (smooth weighted round robin: in each turn all members gain their weight, and the one with the most
// pays the sum). `name` determines where the sequence begins, so that callers that start at the same time do not all begin
// with the same member.
func Turns(set Set, name string) []int {
	sum := int64(set.Slots())
	turns := make([]int, sum)
	credit := make([]int64, len(set))
	for turn := range turns {
		most := 0
		for i, m := range set {
			if credit[i] += int64(m.Weight); credit[i] > credit[most] {
				most = i
			}
		}
		credit[most] -= sum
		turns[turn] = most
	}
	h := fnv.New64a()
	h.Write([]byte(name))
	from := int(h.Sum64() % uint64(sum))
	return append(turns[from:], turns[:from:from]...)
}
