package database

import (
	"errors"
	"math"
	"testing"

	"sluice.dev/serve/internal/records"
)

// Another error would keep the writer of records trying for ever.
func TestARowThatHasNoFormIsRefused(t *testing.T) {
	err := (&ClickHouse{}).Insert(t.Context(), "pool_beliefs", []records.Row{{"expected_per_s": []float64{math.NaN()}}})
	if !errors.Is(err, records.ErrRefused) {
		t.Errorf("%v, want that it is refused", err)
	}
}
