package holds

import (
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	poolsv1 "sluice.dev/api/pools/v1"
)

// What is legal in a call, and so in a record.
const (
	ShortestLease = 5 * time.Second
	// LongestLease is far below retention.ms of sluice_holds: a hold that somebody has is never forgotten by the log.
	LongestLease = 5 * time.Minute
	// MostTargets of a call, claims and releases: its record fits a message of the log, with names as long as may be.
	MostTargets = 500
	// MostTarget and MostHolder are bytes of a name.
	MostTarget, MostHolder = 400, 512
	// MostKept targets are remembered at a time: a call that names more is refused.
	MostKept = 50_000

	sweepEvery = 10 * time.Second
)

// Read is the record under a key. Error: it cannot be used.
func Read(key, value []byte) (*poolsv1.HoldRecord, error) {
	record := &poolsv1.HoldRecord{}
	if err := proto.Unmarshal(value, record); err != nil {
		return nil, err
	}
	return record, Legal(string(key), record)
}

// Legal says why a record cannot be used. Bounds are those of calls, so that none can make a server hold more.
func Legal(key string, record *poolsv1.HoldRecord) error {
	lease := record.GetLease()
	switch n := len(record.GetClaims()) + len(record.GetReleases()); {
	case key == "" || key != record.GetHolder():
		return fmt.Errorf("under the key %.100q, of the holder %.100q", key, record.GetHolder())
	case len(key) > MostHolder || len(record.GetBy()) > MostHolder || record.GetId() == "":
		return errors.New("a name is too long, or there is no id")
	case n == 0 || n > MostTargets:
		return fmt.Errorf("%d targets", n)
	case len(record.GetClaims()) > 0 && (!lease.IsValid() || lease.AsDuration() < ShortestLease || lease.AsDuration() > LongestLease):
		return fmt.Errorf("a lease of %s", lease.AsDuration())
	}
	named := map[string]bool{}
	for _, all := range [][]*poolsv1.HoldClaim{record.GetClaims(), record.GetReleases()} {
		for _, each := range all {
			target, until := each.GetTarget(), each.GetUntil()
			if target == "" || len(target) > MostTarget || named[target] {
				return fmt.Errorf("the target %.100q: empty, too long or twice", target)
			}
			if until != nil && (!until.IsValid() || each.GetHolder() == "" || len(each.GetHolder()) > MostHolder || len(each.GetBy()) > MostHolder) {
				return fmt.Errorf("who had the target %.100q cannot be read", target)
			}
			named[target] = true
		}
	}
	return nil
}
