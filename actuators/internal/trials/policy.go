package trials

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	tuningv1 "sluice.dev/api/tuning/v1"
)

// differing returns the names, in order, whose wanted value is not in force.
func differing(names []string, now, wanted Values) (differ []string) {
	for _, name := range names {
		if value, ok := wanted[name]; ok && !same(now[name], value) {
			differ = append(differ, name)
		}
	}
	return differ
}

// mismatch is nil where all values that are known now are those wanted. Otherwise it names the others.
func mismatch(now, wanted Values) error {
	var faults []string
	for name, value := range wanted {
		if read, known := now[name]; known && !same(read, value) {
			faults = append(faults, fmt.Sprintf("%s is %s, want %s", name, read, value))
		}
	}
	if len(faults) == 0 {
		return nil
	}
	slices.Sort(faults)
	return errors.New(strings.Join(faults, "; "))
}

// same compares numbers by their value, to a part in a million, because programs round them; other values as text.
func same(a, b string) bool {
	if a == b {
		return true
	}
	x, xErr := strconv.ParseFloat(a, 64)
	y, yErr := strconv.ParseFloat(b, 64)
	if xErr != nil || yErr != nil {
		return false
	}
	return max(x-y, y-x) <= 1e-6*max(x, -x, y, -y)
}

// takesBack is true for the end of a trial whose values must not stay.
func takesBack(verdict tuningv1.Verdict) bool {
	return verdict == tuningv1.Verdict_VERDICT_UNSAFE || verdict == tuningv1.Verdict_VERDICT_FAILED
}

// unfinished is the trial that an earlier process received and did not finish; nil without one.
func unfinished(session *tuningv1.TuningSession) *tuningv1.Trial {
	for _, trial := range session.GetTrials() {
		if trial.GetOutcome() == nil && !over(session.GetPhase()) {
			return trial
		}
	}
	return nil
}

func over(phase tuningv1.Phase) bool {
	return phase == tuningv1.Phase_PHASE_DONE || phase == tuningv1.Phase_PHASE_STOPPED
}
