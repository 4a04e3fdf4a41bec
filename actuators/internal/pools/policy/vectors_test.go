package policy_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/actuators/internal/pools/policy"
	"sluice.dev/actuators/internal/pools/pool"
	commonv1 "sluice.dev/api/common/v1"
	poolsv1 "sluice.dev/api/pools/v1"
)

// vector is one case of tests/contract/decisions/apply.json. Times are Unix milliseconds.
type vector struct {
	Name  string
	Rules struct {
		Apply      bool
		Min, Max   uint32
		MaxFactor  float64 `json:"max_factor"`
		CooldownMS int64   `json:"cooldown_ms"`
		PerHour    int     `json:"per_hour"`
		Quiet      []string
		Stopped    bool
	}
	Answer *struct {
		Action       string
		Target       *uint32
		ValidUntilMS *int64 `json:"valid_until_ms"`
		Sizes        []struct {
			Instance string
			Size     any
		}
		Targets []string
		Basis   string
		Reasons []string
	}
	Instance string
	// Current, like each of Sizes, is a number, or "unbounded".
	Current any
	Known   []uint32
	Writes  *struct {
		AtMS    int64 `json:"at_ms"`
		Size    uint32
		Repeats int
		Kept    uint32
		FullMS  int64 `json:"full_ms"`
	}
	NowMS    int64 `json:"now_ms"`
	Decision struct {
		Action policy.Action
		Code   policy.Code
		Size   uint32
	}
}

func TestVectors(t *testing.T) {
	text, err := os.ReadFile("../../../../tests/contract/decisions/apply.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []vector }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	missing := map[policy.Code]bool{
		policy.Differs: true, policy.Step: true, policy.InPlace: true, policy.NotItsTurn: true,
		policy.Stopped: true, policy.Quiet: true, policy.TooMany: true, policy.NoAnswer: true, policy.Held: true,
		policy.NoTarget: true, policy.LeaseOver: true, policy.OutOfLimits: true, policy.CoolingDown: true, policy.BackingOff: true,
	}
	for _, v := range file.Cases {
		t.Run(v.Name, func(t *testing.T) {
			got := policy.Decide(v.rules(), v.answer(t), v.replica(t), time.UnixMilli(v.NowMS))
			if got.Action != v.Decision.Action || got.Code != v.Decision.Code || got.Size != v.Decision.Size {
				t.Errorf("got %s/%s/%d (%s), want %+v", got.Action, got.Code, got.Size, got.Text, v.Decision)
			}
			if got.Text == "" {
				t.Error("a decision without a text for people")
			}
		})
		delete(missing, v.Decision.Code)
	}
	if len(missing) > 0 {
		t.Errorf("no case has the codes %v", missing)
	}
}

func (v vector) rules() policy.Rules {
	r := v.Rules
	var quiet []policy.Hours
	for _, text := range r.Quiet {
		h, err := policy.ParseHours(text)
		if err != nil {
			panic(err)
		}
		quiet = append(quiet, h)
	}
	return policy.Rules{
		PerHour: r.PerHour, Quiet: quiet, Stopped: r.Stopped,
		Apply: r.Apply, Min: r.Min, Max: r.Max, MaxFactor: r.MaxFactor, Cooldown: time.Duration(r.CooldownMS) * time.Millisecond,
	}
}

func (v vector) answer(t *testing.T) *poolsv1.PoolSize {
	if v.Answer == nil {
		return nil
	}
	answer := &poolsv1.PoolSize{
		Action: commonv1.Action(commonv1.Action_value["ACTION_"+v.Answer.Action]), Target: v.Answer.Target,
		Targets: v.Answer.Targets, Basis: poolsv1.Basis(poolsv1.Basis_value["BASIS_"+v.Answer.Basis]),
	}
	for _, code := range v.Answer.Reasons {
		answer.Reasons = append(answer.Reasons, &commonv1.Reason{Code: code})
	}
	if until := v.Answer.ValidUntilMS; until != nil {
		answer.ValidUntil = timestamppb.New(time.UnixMilli(*until))
	}
	for _, one := range v.Answer.Sizes {
		read := size(t, one.Size)
		answer.Sizes = append(answer.Sizes, &poolsv1.TargetSize{Instance: one.Instance, Size: read.Wire(), Unbounded: read.Unbounded})
	}
	return answer
}

func (v vector) replica(t *testing.T) policy.Replica {
	replica := policy.Replica{Instance: v.Instance, Size: size(t, v.Current), Known: v.Known}
	if w := v.Writes; w != nil {
		replica.Writes = policy.Writes{At: time.UnixMilli(w.AtMS), Size: w.Size, Repeats: w.Repeats, Kept: w.Kept}
		if w.FullMS > 0 {
			replica.Writes.Full = time.UnixMilli(w.FullMS)
		}
	}
	return replica
}

func size(t *testing.T, read any) pool.Size {
	switch read := read.(type) {
	case float64:
		return pool.Of(uint32(read))
	case string:
		if read == "unbounded" {
			return pool.Unbounded
		}
	}
	t.Fatalf("size: %v: want a number or unbounded", read)
	return pool.Size{}
}
