// Package subsets puts into force which containers of a service a caller connects to, for callers that do not speak xDS.
package subsets

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	subsetsv1 "sluice.dev/api/subsets/v1"
)

// MaxSlots bounds the sum of the weights of a Set, and with it its members.
const MaxSlots = 1024

// Member is one container that is called, and its share of the new connections relative to the others', 1 or more.
type Member struct {
	Address netip.AddrPort
	Weight  uint32
}

// Set has members ordered by address, each address once, with weights that have no common factor and a sum of MaxSlots at
// most. The zero value is no set: nothing is in force.
type Set []Member

// NewSet orders members and reduces their weights: what two sets mean alike is then equal. Weights that still sum up to more
// than MaxSlots are rounded to it by largest remainders, each at least 1. Error: nobody, a weight of 0, an address twice, or
// more than MaxSlots members.
func NewSet(members []Member) (Set, error) {
	set := slices.SortedFunc(slices.Values(members), func(a, b Member) int { return a.Address.Compare(b.Address) })
	for i, m := range set {
		switch {
		case !m.Address.IsValid() || m.Address.Port() == 0:
			return nil, fmt.Errorf("address %s: want IP:PORT with a port from 1", m.Address)
		case m.Weight == 0:
			return nil, fmt.Errorf("%s has the weight 0: want 1 or more", m.Address)
		case i > 0 && set[i-1].Address == m.Address:
			return nil, fmt.Errorf("%s is there twice", m.Address)
		}
	}
	switch {
	case len(set) == 0:
		return nil, errors.New("no members: want one at least")
	case len(set) > MaxSlots:
		return nil, fmt.Errorf("%d members: want %d at most", len(set), MaxSlots)
	}
	return rounded(reduced(set)), nil
}

// reduced divides all weights by what they have in common.
func reduced(set []Member) []Member {
	common := uint32(0)
	for _, m := range set {
		a, b := common, m.Weight
		for b != 0 {
			a, b = b, a%b
		}
		common = a
	}
	for i := range set {
		set[i].Weight /= common
	}
	return set
}

// rounded makes the sum of the weights MaxSlots where it is more: each member has one slot, and the rest is shared by weight,
// fractions by largest remainder and then by address.
func rounded(set []Member) Set {
	sum := uint64(0)
	for _, m := range set {
		sum += uint64(m.Weight)
	}
	if sum <= MaxSlots {
		return set
	}
	free := uint64(MaxSlots - len(set))
	order := make([]int, len(set))
	remainders := make([]uint64, len(set))
	left := free
	for i, m := range set {
		order[i] = i
		share := uint64(m.Weight) * free
		set[i].Weight, remainders[i] = uint32(1+share/sum), share%sum
		left -= share / sum
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(remainders[b], remainders[a]) })
	for _, i := range order[:left] {
		set[i].Weight++
	}
	return reduced(set)
}

// Equal: the same members with the same weights.
func (s Set) Equal(other Set) bool { return slices.Equal(s, other) }

// Slots is the sum of the weights.
func (s Set) Slots() (sum uint32) {
	for _, m := range s {
		sum += m.Weight
	}
	return sum
}

// String is such as "10.0.0.1:80 2, 10.0.0.2:80 1".
func (s Set) String() string {
	if len(s) == 0 {
		return "nothing"
	}
	words := make([]string, len(s))
	for i, m := range s {
		words[i] = fmt.Sprintf("%s %d", m.Address, m.Weight)
	}
	return strings.Join(words, ", ")
}

// Difference is a line for each member that then differs: "+10.0.0.3:80 1", "-10.0.0.1:80 2", "10.0.0.2:80 1 > 2".
func (s Set) Difference(then Set) (lines []string) {
	before := map[netip.AddrPort]uint32{}
	for _, m := range s {
		before[m.Address] = m.Weight
	}
	for _, m := range then {
		switch weight, there := before[m.Address]; {
		case !there:
			lines = append(lines, fmt.Sprintf("+%s %d", m.Address, m.Weight))
		case weight != m.Weight:
			lines = append(lines, fmt.Sprintf("%s %d > %d", m.Address, weight, m.Weight))
		}
		delete(before, m.Address)
	}
	for _, m := range s {
		if _, gone := before[m.Address]; gone {
			lines = append(lines, fmt.Sprintf("-%s %d", m.Address, m.Weight))
		}
	}
	return lines
}

// FromProto is the set that an answer means. What has no address of its own is left out and named in notes, as for clients of
// xDS. Error: nobody is left.
func FromProto(answer *subsetsv1.Subset) (set Set, notes []string, err error) {
	var members []Member
	seen := map[netip.AddrPort]bool{}
	for _, each := range answer.GetEndpoints() {
		address, err := netip.ParseAddrPort(each.GetAddress())
		address = netip.AddrPortFrom(address.Addr().Unmap(), address.Port())
		switch {
		case err != nil || address.Port() == 0 || address.Addr().Zone() != "" || address.Addr().IsUnspecified() || address.Addr().IsMulticast():
			notes = append(notes, fmt.Sprintf("%s: address %q: want IP:PORT", each.GetInstance(), each.GetAddress()))
			continue
		case seen[address]:
			notes = append(notes, fmt.Sprintf("%s: address %q: another has it", each.GetInstance(), each.GetAddress()))
			continue
		}
		seen[address] = true
		members = append(members, Member{address, max(1, each.GetWeight())})
	}
	set, err = NewSet(members)
	return set, notes, err
}
