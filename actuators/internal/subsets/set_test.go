package subsets_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice.dev/actuators/internal/subsets"
	subsetsv1 "sluice.dev/api/subsets/v1"
)

func answer(revision uint64, endpoints ...string) *subsetsv1.Subset {
	s := &subsetsv1.Subset{Revision: revision, State: subsetsv1.State_STATE_PROVIDED}
	for i, text := range endpoints {
		address, weight, _ := strings.Cut(text, " ")
		e := &subsetsv1.Endpoint{Instance: fmt.Sprint("cart-", i), Address: address}
		fmt.Sscan(weight, &e.Weight)
		s.Endpoints = append(s.Endpoints, e)
	}
	return s
}

func TestSetsThatMeanTheSameAreEqual(t *testing.T) {
	for _, tt := range []struct {
		endpoints []string
		want      string
	}{
		{[]string{"10.0.0.2:80 4", "10.0.0.1:80 8"}, "10.0.0.1:80 2, 10.0.0.2:80 1"},
		{[]string{"10.0.0.1:80 7"}, "10.0.0.1:80 1"},
		{[]string{"10.0.0.1:80 0", "10.0.0.2:80 1"}, "10.0.0.1:80 1, 10.0.0.2:80 1"}, // as clients of xDS are given it
		{[]string{"10.0.0.1:80 1", "[::ffff:10.0.0.2]:80 1"}, "10.0.0.1:80 1, 10.0.0.2:80 1"},
		{[]string{"10.0.0.1:80 1", "10.0.0.1:80 5", "cart:80 1", "10.0.0.9:0 1", "", "0.0.0.0:80 1"}, "10.0.0.1:80 1"},
		{[]string{"10.0.0.1:80 4294967295", "10.0.0.2:80 4294967295", "10.0.0.3:80 1"}, "10.0.0.1:80 512, 10.0.0.2:80 511, 10.0.0.3:80 1"},
	} {
		set, notes, err := subsets.FromProto(answer(1, tt.endpoints...))
		if err != nil || set.String() != tt.want {
			t.Errorf("%q: %s, %v (%v), want %s", tt.endpoints, set, err, notes, tt.want)
		}
	}
	for _, none := range [][]string{nil, {"cart:80 1"}, {""}} {
		if set, _, err := subsets.FromProto(answer(1, none...)); err == nil {
			t.Errorf("%q: %s, want an error", none, set)
		}
	}
}

// For any weights: no member is lost, the sum fits into a map, and shares are off by at most one slot, beside the one slot
// that each member has.
func TestRoundingKeepsEveryMember(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 1))
	for range 60 {
		members := make([]subsets.Member, 1+random.IntN(subsets.MaxSlots))
		sum, most := 0.0, random.Uint32N(math.MaxUint32)
		for i := range members {
			members[i] = subsets.Member{Address: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), 80), Weight: 1 + random.Uint32N(most)}
			sum += float64(members[i].Weight)
		}
		set, err := subsets.NewSet(members)
		if err != nil || len(set) != len(members) || set.Slots() > subsets.MaxSlots {
			t.Fatalf("%d of %d members in %d slots: %v", len(set), len(members), set.Slots(), err)
		}
		again, err := subsets.NewSet(set)
		if err != nil || !again.Equal(set) {
			t.Fatalf("%s is not what it was made of: %s, %v", again, set, err)
		}
		free := float64(subsets.MaxSlots - len(members))
		for i, m := range set {
			if want := 1 + free*float64(members[i].Weight)/sum; set.Slots() > subsets.MaxSlots/2 && math.Abs(float64(m.Weight)*float64(subsets.MaxSlots)/float64(set.Slots())-want) > 2 {
				t.Fatalf("%s has %d of %d slots, want %.1f of %d", m.Address, m.Weight, set.Slots(), want, subsets.MaxSlots)
			}
		}
	}
}

// In any run of turns a member has its share to within one turn.
func TestTurnsAreSpread(t *testing.T) {
	set, _, err := subsets.FromProto(answer(1, "10.0.0.1:80 5", "10.0.0.2:80 3", "10.0.0.3:80 1"))
	if err != nil {
		t.Fatal(err)
	}
	turns := subsets.Turns(set, "front-cart")
	for length := 1; length <= len(turns); length++ {
		for from := range turns {
			counts := make([]int, len(set))
			for i := range length {
				counts[turns[(from+i)%len(turns)]]++
			}
			for i, m := range set {
				if share := float64(length) * float64(m.Weight) / float64(set.Slots()); math.Abs(float64(counts[i])-share) >= 2 {
					t.Errorf("turns %d to %d: %v, want about %.1f of member %d", from, from+length, counts, share, i)
				}
			}
		}
	}
	begins := map[int]bool{}
	for i := range 30 {
		begins[subsets.Turns(set, fmt.Sprint("front-", i))[0]] = true
	}
	if len(begins) < 2 {
		t.Error("all callers begin with the same member")
	}
}

func TestDifference(t *testing.T) {
	one, _, _ := subsets.FromProto(answer(1, "10.0.0.1:80 2", "10.0.0.2:80 1"))
	two, _, _ := subsets.FromProto(answer(1, "10.0.0.2:80 3", "10.0.0.3:80 1"))
	if got := one.Difference(two); !slices.Equal(got, []string{"10.0.0.2:80 1 > 3", "+10.0.0.3:80 1", "-10.0.0.1:80 2"}) {
		t.Errorf("%q", got)
	}
}

func TestDecide(t *testing.T) {
	now := time.UnixMilli(1_772_366_400_000)
	in := subsets.Set{{Address: netip.MustParseAddrPort("10.0.0.1:80"), Weight: 1}}
	rules := subsets.Rules{Apply: true, Min: 1, Within: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, Cooldown: 3 * time.Second}
	with := func(change func(*subsets.Rules)) subsets.Rules { r := rules; change(&r); return r }
	gone := answer(1, "10.0.0.2:80")
	gone.State = subsetsv1.State_STATE_DELETED
	huge := make([]string, subsets.MaxSlots+1)
	for i := range huge {
		huge[i] = fmt.Sprintf("10.0.%d.%d:80", i/200, i%200)
	}
	written := subsets.Writes{At: now.Add(-2 * time.Second), Set: in}
	kept := subsets.Writes{At: now.Add(-20 * time.Second), Set: subsets.Set{{Address: netip.MustParseAddrPort("10.0.0.2:80"), Weight: 1}}, Repeats: 3}
	for name, tt := range map[string]struct {
		rules  subsets.Rules
		answer *subsetsv1.Subset
		writes subsets.Writes
		action subsets.Action
		code   subsets.Code
	}{
		"none yet":               {rules, nil, subsets.Writes{}, subsets.Hold, subsets.NoAnswer},
		"no more":                {rules, gone, subsets.Writes{}, subsets.Hold, subsets.Gone},
		"empty":                  {rules, answer(1), subsets.Writes{}, subsets.Refuse, subsets.Unusable},
		"no address":             {rules, answer(1, "cart:80"), subsets.Writes{}, subsets.Refuse, subsets.Unusable},
		"too many":               {rules, answer(1, huge...), subsets.Writes{}, subsets.Refuse, subsets.Unusable},
		"too few":                {with(func(r *subsets.Rules) { r.Min = 2 }), answer(1, "10.0.0.2:80"), subsets.Writes{}, subsets.Refuse, subsets.TooFew},
		"elsewhere":              {rules, answer(1, "10.0.0.2:80", "192.0.2.1:80"), subsets.Writes{}, subsets.Refuse, subsets.Outside},
		"in force":               {rules, answer(1, "10.0.0.1:80 7"), subsets.Writes{}, subsets.Hold, subsets.InForce},
		"no opt-in":              {with(func(r *subsets.Rules) { r.Apply = false }), answer(1, "10.0.0.2:80"), subsets.Writes{}, subsets.Hold, subsets.RecommendOnly},
		"kill switch":            {with(func(r *subsets.Rules) { r.Stopped = true }), answer(1, "10.0.0.2:80"), subsets.Writes{}, subsets.Hold, subsets.Stopped},
		"just written":           {rules, answer(1, "10.0.0.2:80"), written, subsets.Hold, subsets.CoolingDown},
		"not kept":               {rules, answer(1, "10.0.0.2:80"), kept, subsets.Hold, subsets.CoolingDown},
		"another one":            {rules, answer(1, "10.0.0.3:80"), kept, subsets.Write, subsets.Differs},
		"the clock was set back": {rules, answer(1, "10.0.0.2:80"), subsets.Writes{At: now.Add(time.Hour)}, subsets.Write, subsets.Differs},
		"to write":               {rules, answer(1, "10.0.0.2:80"), subsets.Writes{}, subsets.Write, subsets.Differs},
	} {
		if got := subsets.Decide(tt.rules, tt.answer, in, tt.writes, now); got.Action != tt.action || got.Code != tt.code {
			t.Errorf("%s: %+v, want %s %s", name, got, tt.action, tt.code)
		}
	}
}
