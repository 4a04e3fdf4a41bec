// Package subsets writes connection subsets for callers that do not speak xDS: the containers of a service that a caller
// connects to.
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

// Member is one called container, and its share of the new connections relative to the others', 1 or more.
type Member struct {
	Address netip.AddrPort
	Weight  uint32
}

// Set has members ordered by address, each address once. Their weights have no common factor and a sum of at most MaxSlots.
// The zero value is no set: nothing is in force.
type Set []Member

// NewSet orders members and reduces their weights, so that sets with the same meaning are equal. Where the weights then sum
// up to more than MaxSlots, it rounds them to that sum by largest remainders, each at least 1. Error: no members, a weight of
// 0, an address twice, or more than MaxSlots members.
func NewSet(members []Member) (Set, error) {
	set := slices.SortedFunc(slices.Values(members), func(a, b Member) int { return a.Address.Compare(b.Address) })
	for i, m := range set {
		switch {
		case !m.Address.IsValid() || m.Address.Port() == 0:
			return nil, fmt.Errorf("address %s: want IP:PORT with a port from 1", m.Address)
		case m.Weight == 0:
			return nil, fmt.Errorf("%s has the weight 0: want 1 or more", m.Address)
		case i > 0 && set[i-1].Address == m.Address:
			return nil, fmt.Errorf("%s occurs twice", m.Address)
		}
	}
	switch {
	case len(set) == 0:
		return nil, errors.New("no members: want at least one")
	case len(set) > MaxSlots:
		return nil, fmt.Errorf("%d members: want at most %d", len(set), MaxSlots)
	}
	return rounded(reduced(set)), nil
}

// reduced divides all weights by their greatest common divisor.
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

// rounded reduces the sum of the weights to MaxSlots where it is larger. Each member gets one slot. The weights share the
// rest, fractions by largest remainder and then by address.
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

// Equal is true for the same members with the same weights.
func (s Set) Equal(other Set) bool { return slices.Equal(s, other) }

// Slots is the sum of the weights.
func (s Set) Slots() (sum uint32) {
	for _, m := range s {
		sum += m.Weight
	}
	return sum
}

// String returns a text such as "10.0.0.1:80 2, 10.0.0.2:80 1".
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

// Difference returns a line for each member that differs in `then`: "+10.0.0.3:80 1", "-10.0.0.1:80 2", "10.0.0.2:80 1 > 2".
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

// FromProto returns the set of the recommender's subset. As for clients of xDS, it leaves out endpoints without an address of
// their own, and names them in notes. Error: no endpoint is left.
func FromProto(answer *subsetsv1.Subset) (set Set, notes []string, err error) {
	var members []Member
	addresses := map[netip.AddrPort]bool{}
	for _, endpoint := range answer.GetEndpoints() {
		address, err := netip.ParseAddrPort(endpoint.GetAddress())
		address = netip.AddrPortFrom(address.Addr().Unmap(), address.Port())
		switch {
		case err != nil || address.Port() == 0 || address.Addr().Zone() != "" || address.Addr().IsUnspecified() || address.Addr().IsMulticast():
			notes = append(notes, fmt.Sprintf("%s: address %q: want IP:PORT", endpoint.GetInstance(), endpoint.GetAddress()))
			continue
		case addresses[address]:
			notes = append(notes, fmt.Sprintf("%s: address %q: another endpoint has it", endpoint.GetInstance(), endpoint.GetAddress()))
			continue
		}
		addresses[address] = true
		members = append(members, Member{address, max(1, endpoint.GetWeight())})
	}
	set, err = NewSet(members)
	return set, notes, err
}
