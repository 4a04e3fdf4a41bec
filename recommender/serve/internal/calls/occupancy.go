package calls

import (
	"fmt"

	"sluice.dev/serve/internal/problem"

	poolsv1 "sluice.dev/api/pools/v1"
)

// mostReadings bounds the readings between two reports, which come each 15 s.
const mostReadings = 100_000

// checkOccupancy checks that an occupancy has all of its figures or none, and that they are possible.
func checkOccupancy(o *poolsv1.Occupancy) error {
	const f = "actuation.occupancy."
	if o == nil {
		return nil
	}
	if o.GetReadings() < 1 || o.GetReadings() > mostReadings {
		return problem.NotLegal(f+"readings", o.GetReadings(), fmt.Sprintf("1 to %d", mostReadings))
	}
	if o.GetFull() > o.GetReadings() {
		return problem.NotLegal(f+"full", o.GetFull(), fmt.Sprintf("0 to %d, the readings", o.GetReadings()))
	}
	if err := checkCounts(f+"busy", o.GetBusy(), o.GetBusyMost(), o.GetBusyMean()); err != nil {
		return err
	}
	if (o.Waiting == nil) != (o.WaitingMean == nil) || (o.Waiting == nil) != (o.WaitingMost == nil) {
		return problem.Conflict(f+"waiting", "is set without waiting_mean and waiting_most, or they without it", "all three, or none")
	}
	return checkCounts(f+"waiting", o.GetWaiting(), o.GetWaitingMost(), o.GetWaitingMean())
}

func checkCounts(field string, newest, most uint32, mean float64) error {
	if newest > most {
		return problem.NotLegal(field, newest, fmt.Sprintf("0 to %d, the most", most))
	}
	if !(mean >= 0 && mean <= float64(most)) { // NaN is neither
		return problem.NotLegal(field+"_mean", mean, fmt.Sprintf("0 to %d, the most", most))
	}
	return nil
}
