package pools

import (
	"math"
	"time"

	"sluice.dev/actuators/internal/pools/pool"
	poolsv1 "sluice.dev/api/pools/v1"
)

// used sums up the occupancy in readings of one size since the last report. The zero value is none. It is for one goroutine.
type used struct {
	size        pool.Size
	readings    uint32
	full        uint32
	busy        counts
	waiting     counts
	waitingTold uint32
}

// counts of one kind: the newest, the sum and the maximum.
type counts struct {
	newest, most uint32
	sum          float64
}

func (c *counts) add(n uint32) { c.newest, c.most, c.sum = n, max(c.most, n), c.sum+float64(n) }

// add takes a reading. Another size discards the readings before, which do not describe it.
func (u *used) add(size pool.Size, use pool.Use) {
	if size != u.size || use.Busy == nil {
		*u = used{size: size}
	}
	if use.Busy == nil {
		return
	}
	u.readings++
	u.busy.add(*use.Busy)
	if use.Fills(size) {
		u.full++
	}
	if use.Waiting != nil {
		u.waitingTold++
		u.waiting.add(*use.Waiting)
	}
}

// told starts over after a report.
func (u *used) told() { *u = used{size: u.size} }

// wire is nil where the target reported no use.
func (u *used) wire() *poolsv1.Occupancy {
	if u.readings == 0 {
		return nil
	}
	o := &poolsv1.Occupancy{
		Readings: u.readings, Full: u.full,
		Busy: u.busy.newest, BusyMean: u.busy.sum / float64(u.readings), BusyMost: u.busy.most,
	}
	if u.waitingTold > 0 {
		waiting, mean := u.waiting, u.waiting.sum/float64(u.waitingTold)
		o.Waiting, o.WaitingMean, o.WaitingMost = &waiting.newest, &mean, &waiting.most
	}
	return o
}

// A pool that becomes full, or that callers begin to wait for, is reported after 1 s, and other large changes after 5 s. When
// 10,000 pools change so at each reading, that is 2,000 reports a second, and 670 when their use stays.
const (
	tellFullAfter  = time.Second
	tellMovedAfter = 5 * time.Second
)

// newsAfter is how long after the last report the present use is due; an unchanged use never is.
func newsAfter(before, now *poolsv1.Occupancy) time.Duration {
	switch {
	case now == nil:
		return never
	case before == nil, pressed(now) && !pressed(before):
		return tellFullAfter
	case pressed(now) != pressed(before), moved(before.GetBusyMean(), now.GetBusyMean()),
		moved(before.GetWaitingMean(), now.GetWaitingMean()), math.Abs(fullShare(now)-fullShare(before)) >= 0.5:
		return tellMovedAfter
	}
	return never
}

const never = time.Duration(math.MaxInt64)

// pressed: at one reading the pool was full, or a caller waited.
func pressed(o *poolsv1.Occupancy) bool { return o.GetFull() > 0 || o.GetWaitingMost() > 0 }

func fullShare(o *poolsv1.Occupancy) float64 { return float64(o.GetFull()) / float64(o.GetReadings()) }

// moved is true for a change by a quarter, and by 2: 30 busy threads are reported again at 38, 3 at 5.
func moved(before, now float64) bool {
	by := math.Abs(now - before)
	return by >= 2 && by >= before/4
}
