package calls

import (
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"sluice.dev/serve/internal/journaltest"

	poolsv1 "sluice.dev/api/pools/v1"
)

func TestTheOwnerOfATargetByTheNewestAnswer(t *testing.T) {
	answer := &poolsv1.PoolSize{Sizes: []*poolsv1.TargetSize{
		{Instance: "a", Reporter: "one"}, {Instance: "b"}, {Instance: "threads", Reporter: "one"},
	}}
	for _, tt := range []struct {
		label, instance, name, reporter, owner string
	}{
		{"the owner itself", "a", "threads", "one", ""},
		{"another one", "a", "threads", "two", "one"},
		{"one that is not compared", "a", "threads", "", ""},
		{"a target that nobody owns", "b", "threads", "two", ""},
		{"a target that nobody reported lately", "c", "threads", "two", ""},
		{"the name stands in for the instance", "", "threads", "two", "one"},
	} {
		a := &poolsv1.Actuation{Instance: tt.instance, TargetName: tt.name, Reporter: tt.reporter}
		if got := ownerOf(answer, a); got != tt.owner {
			t.Errorf("%s: %q, want %q", tt.label, got, tt.owner)
		}
	}
	if got := ownerOf(&poolsv1.PoolSize{}, &poolsv1.Actuation{Instance: "a", Reporter: "two"}); got != "" {
		t.Errorf("%q owns a target of an answer without sizes", got)
	}
}

func TestARefusalNamesBothReportersAndWhatToDo(t *testing.T) {
	a := &poolsv1.Actuation{Instance: "cart-1", Reporter: "b@two :1", Detail: "in force after 3ms"}
	err := ownershipError("a@one :1", journaltest.Server("cart"), a)
	if status.Code(err) != codes.FailedPrecondition {
		t.Error(err)
	}
	info := status.Convert(err).Details()[0].(*errdetails.ErrorInfo)
	if info.GetReason() != "TARGET_OWNED" || info.GetMetadata()["owner"] != "a@one :1" || info.GetMetadata()["refused"] != "b@two :1" {
		t.Error(info)
	}
	for _, part := range []string{"cart-1", `"a@one :1" owns`, `"b@two :1" is refused`, "take it out of one of the two configurations"} {
		if !strings.Contains(status.Convert(err).Message(), part) {
			t.Errorf("%q lacks %q", status.Convert(err).Message(), part)
		}
	}
	for outcome, want := range map[poolsv1.ActuationOutcome]poolsv1.ActuationOutcome{
		poolsv1.ActuationOutcome_ACTUATION_OUTCOME_OBSERVED: poolsv1.ActuationOutcome_ACTUATION_OUTCOME_REFUSED,
		poolsv1.ActuationOutcome_ACTUATION_OUTCOME_APPLIED:  poolsv1.ActuationOutcome_ACTUATION_OUTCOME_APPLIED,
		poolsv1.ActuationOutcome_ACTUATION_OUTCOME_FAILED:   poolsv1.ActuationOutcome_ACTUATION_OUTCOME_FAILED,
	} {
		a.Outcome = outcome
		row := refusalRow(a, err)
		if row.GetOutcome() != want || !strings.HasPrefix(row.GetDetail(), "TARGET_OWNED: ") || !strings.HasSuffix(row.GetDetail(), "; in force after 3ms") {
			t.Errorf("%s: %v", outcome, row)
		}
	}
}
