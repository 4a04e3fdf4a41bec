package pool

import (
	"fmt"
	"time"
)

// ShortestSLO to LongestSLO are the legal SLOs of a pool; the recommender refuses others.
const (
	ShortestSLO = time.Millisecond
	LongestSLO  = time.Hour
)

// ParseSLO reads a duration with its unit. The error names the legal form.
func ParseSLO(text string) (time.Duration, error) {
	slo, err := time.ParseDuration(text)
	if err != nil || slo < ShortestSLO || slo > LongestSLO {
		return 0, fmt.Errorf("%q: want a duration of 1ms to 1h, such as 200ms", text)
	}
	return slo, nil
}
