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

// Text is the text of an error; empty for nil.
func Text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
