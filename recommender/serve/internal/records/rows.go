// Package records writes the journal's records into ClickHouse's tables, for people.
package records

import (
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"sluice.dev/serve/internal/keys"

	poolsv1 "sluice.dev/api/pools/v1"
)

// Row is a table's row, by column.
type Row map[string]any

// defaultLease is the lease of a decision before a heartbeat of its shard was read.
const defaultLease = 30 * time.Second

// decision is the row of `recommendations` for a record of sluice_decisions; nil for another kind of record. Equal records
// give equal rows, of which the table keeps one.
func decision(record *kgo.Record, lease time.Duration) (Row, error) {
	if _, beat, _ := keys.ParseShard(string(record.Key)); beat || record.Value == nil {
		return nil, nil
	}
	size := &poolsv1.PoolSize{}
	if err := proto.Unmarshal(record.Value, size); err != nil {
		return nil, err
	}
	if !keys.PoolOf(size.GetPool()).Legal() {
		return nil, fmt.Errorf("a decision of %v", size.GetPool())
	}
	codes := []string{}
	for _, reason := range size.GetReasons() {
		codes = append(codes, reason.GetCode())
	}
	at := size.GetComputedAt().AsTime()
	if size.GetComputedAt() == nil {
		at = record.Timestamp
	}
	row := pool(size.GetPool())
	row["at"] = stamp(at)
	row["state"] = short(size.GetState().String(), "STATE_")
	row["basis"] = short(size.GetBasis().String(), "BASIS_")
	row["action"] = short(size.GetAction().String(), "ACTION_")
	row["current"], row["target"] = size.Current, size.Target
	row["lower_bound"], row["upper_bound"], row["unguarded_target"] = size.LowerBound, size.UpperBound, size.UnguardedTarget
	row["least"], row["most"] = size.Least, size.Most
	row["confidence"], row["model"], row["reasons"] = size.GetConfidence(), size.GetModel(), codes
	row["threshold_ms"] = float64(size.GetThreshold().AsDuration()) / 1e6
	row["valid_until"] = stamp(record.Timestamp.Add(lease))
	row["revision"] = size.GetRevision()
	if advice := size.GetAdvice(); advice != nil {
		row["advice"] = short(advice.GetKind().String(), "KIND_")
		row["advised_cores"], row["advised_replicas"] = advice.AdvisedCpuLimitCores, advice.AdvisedReplicas
		row["asked_per_s"], row["in_time"], row["best_per_s"] = advice.GetAskedPerS(), advice.InTime, advice.GetBestPerS()
	}
	if size.GetDataUntil() != nil {
		row["newest_bucket"] = stamp(size.GetDataUntil().AsTime())
	}
	return row, nil
}

// candidate is the row of `pool_candidates` for a candidate's record; nil for one without a value.
func candidate(record *kgo.Record) (Row, error) {
	if record.Value == nil {
		return nil, nil
	}
	c := &poolsv1.Candidate{}
	if err := proto.Unmarshal(record.Value, c); err != nil {
		return nil, err
	}
	if !keys.PoolOf(c.GetPool()).Legal() {
		return nil, fmt.Errorf("a candidate of %v", c.GetPool())
	}
	row := pool(c.GetPool())
	row["at"], row["seen"] = stamp(record.Timestamp), stamp(c.GetSeenAt().AsTime())
	row["found_by"], row["size_from"] = foundBy(c.GetFoundBy()), foundBy(c.GetSizeFrom())
	if c.GetFoundAt() != nil {
		row["found_at"] = stamp(c.GetFoundAt().AsTime())
	}
	row["why"], row["concurrency"], row["instances"], row["size"] = c.GetWhy(), c.GetConcurrency(), c.GetInstances(), c.Size
	return row, nil
}

// foundBy is empty for the unspecified value.
func foundBy(by poolsv1.FoundBy) string {
	if by == poolsv1.FoundBy_FOUND_BY_UNSPECIFIED {
		return ""
	}
	return short(by.String(), "FOUND_BY_")
}

// report is the row of a record of sluice_reports, and its table.
func report(record *kgo.Record) (table string, row Row, err error) {
	r := &poolsv1.Report{}
	if err := proto.Unmarshal(record.Value, r); err != nil {
		return "", nil, err
	}
	switch kind := r.GetReport().(type) {
	case *poolsv1.Report_Actuation:
		row = actuation(r, kind.Actuation)
		row["log_partition"], row["log_offset"] = record.Partition, record.Offset
		return "actuations", row, nil
	case *poolsv1.Report_Pause:
		row = pool(kind.Pause.GetPool())
		row["at"], row["paused"], row["by"], row["why"] = stamp(r.GetReceived().AsTime()), kind.Pause.GetPaused(), r.GetBy(), kind.Pause.GetWhy()
		if kind.Pause.Size != nil {
			row["size"] = kind.Pause.GetSize()
		}
		return "pool_pauses", row, nil
	case *poolsv1.Report_Scaling:
		event := kind.Scaling
		return "scaling_events", Row{
			"service": event.GetService(), "at": stamp(event.GetAt().AsTime()), "cpu_limit_cores": event.CpuLimitCores,
			"replicas": event.Replicas, "version": event.GetVersion(), "source": event.GetSource(),
			"received": stamp(r.GetReceived().AsTime()), "by": r.GetBy(),
		}, nil
	default:
		return "", nil, fmt.Errorf("a report of an unknown kind")
	}
}

// actuation has the actuator's own time, or without one the time of receipt. A report that was sent again has the same id,
// under which the table keeps one row.
func actuation(r *poolsv1.Report, a *poolsv1.Actuation) Row {
	at, instance := a.GetAt(), a.GetInstance()
	if at == nil {
		at = r.GetReceived()
	}
	if instance == "" {
		instance = a.GetTargetName()
	}
	row := pool(a.GetPool())
	row["at"], row["target_name"], row["actuator"] = stamp(at.AsTime()), a.GetTargetName(), a.GetActuator()
	row["outcome"] = short(a.GetOutcome().String(), "ACTUATION_OUTCOME_")
	row["requested"], row["previous"], row["read_back"] = a.Requested, a.Previous, a.ReadBack
	row["revision"], row["detail"] = a.GetRevision(), a.GetDetail()
	row["instance"], row["unbounded"] = instance, a.GetUnbounded()
	row["by"], row["request_id"], row["received"] = r.GetBy(), r.GetRequestId(), stamp(r.GetReceived().AsTime())
	return row
}

func pool(p *poolsv1.Pool) Row {
	return Row{"service": p.GetService(), "side": keys.SideName(p.GetSide()), "peer": p.GetPeer()}
}

func short(name, prefix string) string { return strings.TrimPrefix(name, prefix) }

// stamp is the number form of a DateTime64(3).
func stamp(at time.Time) string { return fmt.Sprintf("%d.%03d", at.Unix(), at.Nanosecond()/1e6) }
