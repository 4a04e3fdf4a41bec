// Package holds says who has a target, by the order of the log alone: nobody is elected, and no server decides.
package holds

import (
	"maps"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	poolsv1 "sluice.dev/api/pools/v1"
)

// Who is a process: the name that it gives itself, and the identity that it called with.
type Who struct{ Holder, By string }

// Claimed is what came of the claim of one target.
type Claimed struct {
	Target  string
	Granted bool
	// Who has it, and for how long from the time of the record on.
	Who  Who
	Left time.Duration
}

// hold is who has a target until a time of the log. The zero hold is nobody's.
type hold struct {
	who   Who
	until time.Time
}

// at is whether somebody has it at a record of that time.
func (h hold) at(now time.Time) bool { return now.Before(h.until) }

// entry is a target: who has it after the record at `last`, which was of the time `seen`.
type entry struct {
	hold
	last uint64
	seen time.Time
}

// Fold is who has what after some records of the log, taken one after the other. It is pure: the only time in it is that
// of records.
//
// A claim grants a target unless somebody else's hold is on it, by the record's time; the holder's own extends its hold, and a
// release ends it. The log forgets, and a server begins where it does. What a claim came to may rest on what was forgotten: a
// chain of grants and refusals of any length. So each record says who had its targets as of a position, as its server knew,
// and that counts where nothing on the target came in between. What is granted then follows from the records from that
// position on, whoever reads them and wherever they began.
type Fold struct {
	targets map[string]entry
	// next is the offset behind the last record, now its time.
	next  uint64
	now   time.Time
	swept time.Time
}

// NewFold begins before the record at offset next.
func NewFold(next uint64) *Fold { return &Fold{targets: map[string]entry{}, next: next} }

// Position is the offset behind all records that were taken.
func (f *Fold) Position() uint64 { return f.next }

// Kept is how many targets are remembered.
func (f *Fold) Kept() int { return len(f.targets) }

// Knows tells whether a target is remembered.
func (f *Fold) Knows(target string) bool { _, known := f.targets[target]; return known }

// Held is how many targets somebody has as of the last record.
func (f *Fold) Held() (n int) {
	for e := range maps.Values(f.targets) {
		if e.at(f.now) {
			n++
		}
	}
	return n
}

// Skip is of a record that cannot be used.
func (f *Fold) Skip(offset uint64, at time.Time) { f.next, f.now = offset+1, at }

// View is a claim of a target in a record that is written at Position: with who has it.
func (f *Fold) View(target string) *poolsv1.HoldClaim {
	claim := &poolsv1.HoldClaim{Target: target}
	if e := f.targets[target]; !e.until.IsZero() {
		claim.Holder, claim.By, claim.Until = e.who.Holder, e.who.By, timestamppb.New(e.until)
	}
	return claim
}

// Take is the next record, at an offset and of a time, which has to be Legal. It returns what came of its claims.
func (f *Fold) Take(offset uint64, at time.Time, record *poolsv1.HoldRecord) []Claimed {
	f.next, f.now = offset+1, at
	f.sweep(at)
	who := Who{record.GetHolder(), record.GetBy()}
	for _, each := range record.GetReleases() {
		before := f.before(each, record.GetPosition())
		if before.who == who && before.at(at) {
			before = hold{}
		}
		f.targets[each.GetTarget()] = entry{before, offset, at}
	}
	claimed := make([]Claimed, 0, len(record.GetClaims()))
	for _, each := range record.GetClaims() {
		now := f.before(each, record.GetPosition()).claimed(who, at, record.GetLease().AsDuration())
		f.targets[each.GetTarget()] = entry{now, offset, at}
		claimed = append(claimed, Claimed{each.GetTarget(), now.who == who, now.who, now.until.Sub(at)})
	}
	return claimed
}

// before is who had a target before a record: what the record says, unless something came after what its server had read.
func (f *Fold) before(said *poolsv1.HoldClaim, position uint64) hold {
	if e, known := f.targets[said.GetTarget()]; known && e.last >= position {
		return e.hold
	}
	if said.GetUntil() == nil {
		return hold{}
	}
	return hold{Who{said.GetHolder(), said.GetBy()}, said.GetUntil().AsTime()}
}

// claimed is who has a target after somebody claimed it.
func (h hold) claimed(who Who, at time.Time, lease time.Duration) hold {
	until := at.Add(lease)
	if h.at(at) {
		if h.who != who {
			return h
		}
		if h.until.After(until) { // an earlier call asked for longer, and may have been told so
			until = h.until
		}
	}
	return hold{who, until}
}

// sweep forgets what nobody has and nobody asked for since the longest lease: a server that begins now finds the same.
func (f *Fold) sweep(at time.Time) {
	if since := at.Sub(f.swept); since >= 0 && since < sweepEvery {
		return
	}
	f.swept = at
	maps.DeleteFunc(f.targets, func(_ string, e entry) bool {
		return at.Sub(e.seen) > LongestLease && at.Sub(e.until) > LongestLease
	})
}
