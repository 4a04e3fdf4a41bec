package reconcile

import "sluice.dev/actuators/internal/disk"

// Claim claims a place that processes of several hosts may reach, for the process `holder`; it does nothing for other places.
// The error names the owner, or the reason why the owner is not known.
func Claim(place any, holder string) error {
	if shared, ok := place.(disk.Claimer); ok {
		return shared.Claim(holder)
	}
	return nil
}

// Release gives up what Claim claimed.
func Release(place any) {
	if shared, ok := place.(disk.Claimer); ok {
		shared.Release()
	}
}

// Foreign makes the checks of who owns a target, in order, and returns the text of the first error; empty: this process does.
func Foreign(checks ...func() error) string {
	for _, check := range checks {
		if err := check(); err != nil {
			return err.Error()
		}
	}
	return ""
}
