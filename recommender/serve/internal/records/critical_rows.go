package records

import (
	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	poolsv1 "sluice.dev/api/pools/v1"
)

// criticalServices has the rows of `critical_services` of a record; none for a record without a value.
func criticalServices(record *kgo.Record) (map[string][]Row, error) {
	all := &poolsv1.CriticalServices{}
	if err := proto.Unmarshal(record.Value, all); err != nil {
		return nil, err
	}
	rows := []Row{}
	for _, s := range all.GetServices() {
		rows = append(rows, Row{
			"root_service": s.GetRootService(), "root_operation": s.GetRootOperation(), "service": s.GetService(),
			"at": stamp(all.GetAt().AsTime()), "rank": s.GetRank(), "critical": s.GetCritical(), "traces": s.GetTraces(),
			"p95_ms": s.P95Ms, "share_of_p95": s.ShareOfP95, "blame_ms": s.GetBlameMs(), "correlation": s.Correlation,
			"congestion_ratio": s.CongestionRatio, "reasons": append([]string{}, s.GetReasons()...),
		})
	}
	return map[string][]Row{"critical_services": rows}, nil
}
