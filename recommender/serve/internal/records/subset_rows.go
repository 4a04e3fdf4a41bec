package records

import (
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"sluice.dev/serve/internal/keys"

	subsetsv1 "sluice.dev/api/subsets/v1"
)

// subset is the row of `subsets` of a record; nil for a record without a value.
func subset(record *kgo.Record) (Row, error) {
	if record.Value == nil {
		return nil, nil
	}
	s := &subsetsv1.Subset{}
	if err := proto.Unmarshal(record.Value, s); err != nil {
		return nil, err
	}
	key, err := keys.ParseSubset(string(record.Key))
	if err != nil {
		return nil, err
	}
	if keys.SubsetOf(s.GetKey()) != key {
		return nil, fmt.Errorf("under the key %s: a subset of %s", record.Key, keys.SubsetOf(s.GetKey()))
	}
	endpoints, addresses, weights, reasons := []string{}, []string{}, []uint32{}, []string{}
	for _, endpoint := range s.GetEndpoints() {
		endpoints = append(endpoints, endpoint.GetInstance())
		addresses = append(addresses, endpoint.GetAddress())
		weights = append(weights, endpoint.GetWeight())
	}
	for _, reason := range s.GetReasons() {
		reasons = append(reasons, reason.GetCode())
	}
	at := s.GetComputedAt().AsTime()
	if s.GetComputedAt() == nil {
		at = record.Timestamp
	}
	row := subsetKey(key)
	row["at"], row["recorded"] = stamp(at), stamp(record.Timestamp)
	row["state"], row["strategy"] = short(s.GetState().String(), "STATE_"), s.GetStrategy()
	row["endpoints"], row["addresses"], row["weights"], row["reasons"] = endpoints, addresses, weights, reasons
	row["revision"] = s.GetRevision()
	return row, nil
}

// delivery is the row of `subset_deliveries` for a report, at the client's own time, or without one at the time of receipt.
func delivery(record *kgo.Record) (Row, error) {
	r := &subsetsv1.SubsetReport{}
	if err := proto.Unmarshal(record.Value, r); err != nil {
		return nil, err
	}
	d := r.GetDelivery()
	if d == nil {
		return nil, fmt.Errorf("a report of an unknown kind")
	}
	at := d.GetAt()
	if at == nil {
		at = r.GetReceived()
	}
	row := subsetKey(keys.SubsetOf(d.GetKey()))
	row["at"], row["received"] = stamp(at.AsTime()), stamp(r.GetReceived().AsTime())
	row["outcome"], row["revision"] = short(d.GetOutcome().String(), "DELIVERY_OUTCOME_"), d.GetRevision()
	row["client"], row["detail"], row["by"], row["request_id"] = d.GetClient(), d.GetDetail(), r.GetBy(), r.GetRequestId()
	return row, nil
}

// pair has the rows of a pair's explanation: its prediction in `subset_pairs`, and the latency model in `latency_models`. Pairs of
// one downstream service have the same model, of which the table keeps one row.
func pair(record *kgo.Record) (map[string][]Row, error) {
	if record.Value == nil {
		return nil, nil
	}
	e := &subsetsv1.PairExplanation{}
	if err := proto.Unmarshal(record.Value, e); err != nil {
		return nil, err
	}
	upstream, downstream := e.GetPair().GetUpstream(), e.GetPair().GetDownstream()
	prediction := Row{
		"application": e.GetApplication(), "upstream": upstream, "downstream": downstream, "at": stamp(record.Timestamp),
		"percentile": e.GetPercentile(), "predicted_ms": e.PredictedMs, "best_ms": e.BestMs, "fully_connected_ms": e.FullyConnectedMs,
		"quota": e.GetQuota(), "least": e.GetLeast(), "most": e.GetMost(), "rate_per_s": e.GetRatePerS(),
		"following": (*uint32)(nil), "not_following": (*uint32)(nil), "unknown": (*uint32)(nil), "fixed_share": (*float64)(nil),
	}
	if a := e.GetAdoption(); a != nil {
		prediction["following"], prediction["not_following"] = &a.Following, &a.NotFollowing
		prediction["unknown"], prediction["fixed_share"] = &a.Unknown, &a.FixedShare
	}
	rows := map[string][]Row{"subset_pairs": {prediction}}
	if version := e.GetModelVersion(); version != 0 {
		rows["latency_models"] = []Row{{
			"application": e.GetApplication(), "service": downstream, "version": version,
			"learnt": stamp(time.UnixMilli(int64(version))), "basis": e.GetBasis(), "held_out": e.GetHeldOutSamples(),
			"mu_error": e.MuError, "sigma_error": e.SigmaError, "pair_error": e.PairError, "recorded": stamp(record.Timestamp),
		}}
	}
	return rows, nil
}

func subsetKey(key keys.Subset) Row {
	return Row{"upstream": key.Upstream, "instance": key.Instance, "downstream": key.Downstream}
}
