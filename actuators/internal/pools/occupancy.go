package pools

import (
	"math"
	"time"

	"sluice.dev/actuators/internal/pools/pool"
	poolsv1 "sluice.dev/api/pools/v1"
)

// occupancy sums up the occupancy in readings of one size since the last report. The zero value is none. It is for one goroutine.
type occupancy struct {
	size            pool.Size
	readings        uint32
	full            uint32
	busy            counts
	waiting         counts
	waitingReadings uint32
}

// counts of one kind: the newest, the sum and the maximum.
type counts struct {
	newest, most uint32
	sum          float64
}

func (c *counts) add(n uint32) { c.newest, c.most, c.sum = n, max(c.most, n), c.sum+float64(n) }

// add takes a reading. Another size discards the readings before, which do not describe it.
func (o *occupancy) add(size pool.Size, use pool.Use) {
	if size != o.size || use.Busy == nil {
		*o = occupancy{size: size}
	}
	if use.Busy == nil {
		return
	}
	o.readings++
	o.busy.add(*use.Busy)
	if use.Fills(size) {
		o.full++
	}
	if use.Waiting != nil {
		o.waitingReadings++
		o.waiting.add(*use.Waiting)
	}
}

// reset starts over after a report.
func (o *occupancy) reset() { *o = occupancy{size: o.size} }

// wire is nil where the target reported no use.
func (o *occupancy) wire() *poolsv1.Occupancy {
	if o.readings == 0 {
		return nil
	}
	wire := &poolsv1.Occupancy{
		Readings: o.readings, Full: o.full,
		Busy: o.busy.newest, BusyMean: o.busy.sum / float64(o.readings), BusyMost: o.busy.most,
	}
	if o.waitingReadings > 0 {
		waiting, mean := o.waiting, o.waiting.sum/float64(o.waitingReadings)
		wire.Waiting, wire.WaitingMean, wire.WaitingMost = &waiting.newest, &mean, &waiting.most
	}
	return wire
}

// A pool that becomes full, or that callers begin to wait for, is reported after 1 s, and other large changes after 5 s. When
// 10,000 pools change so at each reading, that is 2,000 reports a second, and 670 when their use stays.
const (
	reportFullAfter  = time.Second
	reportMovedAfter = 5 * time.Second
)

// dueAfter is how long after the last report the present use is due; an unchanged use never is.
func dueAfter(before, now *poolsv1.Occupancy) time.Duration {
	switch {
	case now == nil:
		return never
	case before == nil, pressed(now) && !pressed(before):
		return reportFullAfter
	case pressed(now) != pressed(before), moved(before.GetBusyMean(), now.GetBusyMean()),
		moved(before.GetWaitingMean(), now.GetWaitingMean()), math.Abs(fullShare(now)-fullShare(before)) >= 0.5:
		return reportMovedAfter
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
