package records

import (
	"fmt"
	"strconv"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/serve/internal/keys"

	tuningv1 "sluice.dev/api/tuning/v1"
)

// trial is the row of `tuning_trials` of a trial's record; nil for a record without a value.
func trial(record *kgo.Record) (Row, error) {
	if record.Value == nil {
		return nil, nil
	}
	r := &tuningv1.SessionRecord{}
	if err := proto.Unmarshal(record.Value, r); err != nil {
		return nil, err
	}
	key, err := keys.ParseTuning(string(record.Key))
	if err != nil {
		return nil, err
	}
	t := r.GetTrial()
	if t == nil || (keys.Tuning{Session: r.GetSession(), Trial: int64(t.GetNumber())}) != key {
		return nil, fmt.Errorf("under the key %s: another record", record.Key)
	}
	parameters := map[string]string{}
	for _, setting := range t.GetConfiguration().GetSettings() {
		parameters[setting.GetParameter()] = settingText(setting.GetValue())
	}
	row := Row{
		"session": key.Session, "number": t.GetNumber(), "purpose": short(t.GetPurpose().String(), "PURPOSE_"),
		"parameters": parameters, "confirms": t.Confirms, "place": t.Place, "asked_at": stamp(t.GetAskedAt().AsTime()),
		"applied_at": stampOrNil(t.GetAppliedAt()), "told_at": stampOrNil(t.GetToldAt()), "due_at": stamp(t.GetDueAt().AsTime()),
		"recorded": stamp(record.Timestamp),
	}
	if o := t.GetOutcome(); o != nil {
		row["verdict"], row["why"] = short(o.GetVerdict().String(), "VERDICT_"), o.GetWhy()
		row["value"], row["lower"], row["upper"] = o.Value, o.Lower, o.Upper
		if o.GetVerdict() == tuningv1.Verdict_VERDICT_UNSAFE {
			row["excess"] = o.GetExcess()
		}
	}
	return row, nil
}

// settingText is the value of a parameter as a text; empty for a kind of a later version.
func settingText(v *tuningv1.Value) string {
	switch kind := v.GetKind().(type) {
	case *tuningv1.Value_Integer:
		return strconv.FormatInt(kind.Integer, 10)
	case *tuningv1.Value_Number:
		return strconv.FormatFloat(kind.Number, 'g', -1, 64)
	case *tuningv1.Value_Flag:
		return strconv.FormatBool(kind.Flag)
	}
	return v.GetChoice()
}

// stampOrNil is nil for an absent time.
func stampOrNil(at *timestamppb.Timestamp) any {
	if at == nil {
		return nil
	}
	return stamp(at.AsTime())
}
