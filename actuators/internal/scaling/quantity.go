package scaling

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// maxCores is the largest limit that the recommender takes.
const maxCores = 10_000

// cores reads a CPU limit: 1.5, "1.5", or "1500m" as Kubernetes writes it.
func cores(value any) (float64, error) {
	text, ok := scalar(value)
	number, thousandths := strings.CutSuffix(text, "m")
	limit, err := strconv.ParseFloat(number, 64)
	if thousandths {
		limit /= 1000
	}
	if !ok || err != nil || !(limit > 0 && limit <= maxCores) {
		return 0, fmt.Errorf("%v: want cores, above 0 to %d, such as 1.5 or \"1500m\"", value, maxCores)
	}
	return limit, nil
}

// count reads a number of replicas.
func count(value any) (uint32, error) {
	text, ok := scalar(value)
	n, err := strconv.ParseUint(text, 10, 32)
	if !ok || err != nil {
		return 0, fmt.Errorf("%v: want a whole number from 0 to %d", value, uint32(math.MaxUint32))
	}
	return uint32(n), nil
}

// moment reads a time: RFC 3339, or seconds since 1970.
func moment(value any) (time.Time, error) {
	text, ok := scalar(value)
	if at, err := time.Parse(time.RFC3339, text); ok && err == nil {
		return at, nil
	}
	seconds, err := strconv.ParseFloat(text, 64)
	if !ok || err != nil || !(seconds >= 0 && seconds < 9e9) {
		return time.Time{}, fmt.Errorf("%v: want a time as in RFC 3339, or seconds since 1970", value)
	}
	return time.UnixMilli(int64(math.Round(seconds * 1000))), nil
}

// label reads a version, which may be a number.
func label(value any) (string, error) {
	text, ok := scalar(value)
	if !ok || text == "" {
		return "", fmt.Errorf("%v: want text", value)
	}
	return text, nil
}

// scalar returns the text of a JSON string or number.
func scalar(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	default:
		return "", false
	}
}
