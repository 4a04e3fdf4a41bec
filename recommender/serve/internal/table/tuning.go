package table

import (
	"google.golang.org/protobuf/proto"

	"sluice.dev/serve/internal/keys"

	tuningv1 "sluice.dev/api/tuning/v1"
)

// Tunings are the tuning sessions and their trials, Answers the results of commands.
type (
	Tunings = Table[keys.Tuning, *tuningv1.SessionRecord]
	Tuning  = Entry[keys.Tuning, *tuningv1.SessionRecord]
	Answers = Table[keys.Answers, *tuningv1.Answers]
)

// TuningKind and AnswersKind are kinds of records of sluice_decisions.
var (
	TuningKind = Kind[keys.Tuning, *tuningv1.SessionRecord]{
		parse: keys.ParseTuning,
		read: func(value []byte, _ int32) (*tuningv1.SessionRecord, keys.Tuning, error) {
			record := &tuningv1.SessionRecord{}
			err := proto.Unmarshal(value, record)
			key := keys.SessionKey(record.GetSession())
			if record.GetTrial() != nil {
				key.Trial = int64(record.GetTrial().GetNumber())
			}
			return record, key, err
		},
		deleted: func(record *tuningv1.SessionRecord) bool { return record.GetRecord() == nil },
		tombstone: func(key keys.Tuning, _ *tuningv1.SessionRecord) *tuningv1.SessionRecord {
			return &tuningv1.SessionRecord{Session: key.Session}
		},
		revision: func(*tuningv1.SessionRecord) uint64 { return 0 },
	}
	AnswersKind = Kind[keys.Answers, *tuningv1.Answers]{
		parse: keys.ParseAnswers,
		read: func(value []byte, shard int32) (*tuningv1.Answers, keys.Answers, error) {
			answers := &tuningv1.Answers{}
			err := proto.Unmarshal(value, answers)
			return answers, keys.Answers(shard), err
		},
		deleted:   func(*tuningv1.Answers) bool { return false },
		tombstone: func(keys.Answers, *tuningv1.Answers) *tuningv1.Answers { return &tuningv1.Answers{} },
		revision:  func(*tuningv1.Answers) uint64 { return 0 },
	}
)
