package records

import (
	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"sluice.dev/serve/internal/keys"

	poolsv1 "sluice.dev/api/pools/v1"
)

// belief is the row of `pool_beliefs` of a pool's explanation; nil for one without a belief.
func belief(record *kgo.Record) (Row, error) {
	explanation := &poolsv1.Explanation{}
	if err := proto.Unmarshal(record.Value, explanation); err != nil {
		return nil, err
	}
	b := explanation.GetBelief()
	if b == nil {
		return nil, nil
	}
	key, err := keys.ParsePool(string(record.Key))
	if err != nil {
		return nil, err
	}
	sizes, expected, lower, upper := []uint32{}, []float64{}, []float64{}, []float64{}
	for _, point := range b.GetCurve() {
		sizes, expected = append(sizes, point.GetSize()), append(expected, point.GetThroughputPerS())
		lower, upper = append(lower, point.GetLowerPerS()), append(upper, point.GetUpperPerS())
	}
	row := pool(key.Proto())
	row["at"], row["seconds"], row["cpu_limit_cores"] = stamp(record.Timestamp), b.GetSeconds(), b.GetCpuLimitCores()
	row["sizes"], row["expected_per_s"], row["lower_per_s"], row["upper_per_s"] = sizes, expected, lower, upper
	row["knee"], row["best"], row["upper"] = b.GetKnee(), b.GetBest(), b.GetUpper()
	return row, nil
}
