package realize

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"sluice.dev/actuators/internal/pools/pool"
)

// wholeNumber converts a JSON number from low to 2^32-1.
func wholeNumber(value any, low int64) (int64, error) {
	number, ok := value.(json.Number)
	if !ok {
		return 0, fmt.Errorf("not a number")
	}
	n, err := strconv.ParseInt(number.String(), 10, 64)
	if err != nil || n < low || n > math.MaxUint32 {
		return 0, fmt.Errorf("%s: want a whole number from %d to %d", number, low, uint32(math.MaxUint32))
	}
	return n, nil
}

// inForce is the size of a pool with the limit `limit` and `there` threads or connections now. A limit below their number is
// not in force yet.
func inForce(limit, there int64) pool.Size { return pool.Of(uint32(max(limit, there))) }
