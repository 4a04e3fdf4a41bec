package watch

import (
	"fmt"
	"time"

	"sluice.dev/serve/internal/keys"
	"sluice.dev/serve/internal/table"

	commonv1 "sluice.dev/api/common/v1"
	tuningv1 "sluice.dev/api/tuning/v1"
)

// TuningFilter selects one session with its trials.
func TuningFilter(session string) *Filter[keys.Tuning] {
	return &Filter[keys.Tuning]{
		ID: id("tuning", fmt.Sprintf("%q", session)), fullGroups: []string{session}, groups: []string{session},
		selects: func(key keys.Tuning) bool { return key.Session == session },
	}
}

// TuningEncoder encodes the events of WatchSession.
var TuningEncoder = Encoder[keys.Tuning, *tuningv1.SessionRecord]{publication: encodeTuning, snapshot: encodeTuningSnapshot, heartbeat: encodeTuningHeartbeat}

// encodeTuning ignores the lease, because sessions have none. A deleted record has only its name or number.
func encodeTuning(e *table.Tuning, _ *table.Lease) *Frame {
	return e.Derived(nil, func() any {
		response := &tuningv1.WatchSessionResponse{}
		switch {
		case e.Key.Trial == keys.Head && e.Deleted:
			deleted := &tuningv1.TuningSession{Plan: &tuningv1.Plan{Name: e.Key.Session}}
			response.Event = &tuningv1.WatchSessionResponse_Session{Session: deleted}
		case e.Key.Trial == keys.Head:
			response.Event = &tuningv1.WatchSessionResponse_Session{Session: e.Publication.GetHead()}
		case e.Deleted:
			response.Event = &tuningv1.WatchSessionResponse_Trial{Trial: &tuningv1.Trial{Number: uint32(e.Key.Trial)}}
		default:
			response.Event = &tuningv1.WatchSessionResponse_Trial{Trial: e.Publication.GetTrial()}
		}
		return encode(response)
	}).(*Frame)
}

func encodeTuningSnapshot(snapshot *commonv1.Snapshot, token string) *Frame {
	return encode(&tuningv1.WatchSessionResponse{
		Event: &tuningv1.WatchSessionResponse_Snapshot{Snapshot: snapshot}, ResumeToken: token,
	})
}

func encodeTuningHeartbeat(
	shards []*table.Shard[keys.Tuning, *tuningv1.SessionRecord], _ *Filter[keys.Tuning], token string, _ time.Time,
) *Frame {
	return encode(&tuningv1.WatchSessionResponse{
		Event: &tuningv1.WatchSessionResponse_Heartbeat{Heartbeat: leaselessHeartbeat(shards)}, ResumeToken: token,
	})
}
