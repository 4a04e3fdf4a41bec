package realize

import (
	"errors"
	"fmt"

	"sluice.dev/actuators/internal/pools/pool"
)

// inForce is the size of a pool with the limit `limit` and `there` threads or connections now. A limit below their number is
// not in force yet.
func inForce(limit, there int64) pool.Size { return pool.Of(uint32(max(limit, there))) }

// writing makes the write of a size from 1, and names the size in its error.
func writing(size uint32, write func() error) error {
	if size == 0 {
		return errors.New("write size: 0: want at least 1")
	}
	if err := write(); err != nil {
		return fmt.Errorf("write size %d: %w", size, err)
	}
	return nil
}
