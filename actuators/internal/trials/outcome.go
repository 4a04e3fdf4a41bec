package trials

import (
	"strings"

	tuningv1 "sluice.dev/api/tuning/v1"
)

// maxReason is the longest reason that a report of a trial has, in bytes.
const maxReason = 500

// verdictName is the verdict without its prefix: "UNSAFE".
func verdictName(verdict tuningv1.Verdict) string {
	return strings.TrimPrefix(verdict.String(), "VERDICT_")
}

// failed is the outcome of a trial that the target refused.
func failed(err error) *tuningv1.Outcome {
	why := strings.ToValidUTF8(err.Error(), "?")
	if len(why) > maxReason {
		why = strings.ToValidUTF8(why[:maxReason], "")
	}
	return failure(why)
}

func failure(why string) *tuningv1.Outcome {
	return &tuningv1.Outcome{Verdict: tuningv1.Verdict_VERDICT_FAILED, Why: why}
}
