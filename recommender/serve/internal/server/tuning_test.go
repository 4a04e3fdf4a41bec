package server_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/serve/internal/journaltest"
	"sluice.dev/serve/internal/keys"
	"sluice.dev/serve/internal/problem"

	tuningv1 "sluice.dev/api/tuning/v1"
)

// tuner answers commands as a decider does: it hands trials out by number, and refuses the commands that tests select.
type tuner struct {
	t       *testing.T
	journal *journaltest.Journal
	d       *journaltest.Decider
	mu      sync.Mutex
	heads   map[string]*tuningv1.TuningSession
	trials  map[string]uint32
	answers []*tuningv1.Answer
	silent  bool
}

// tunes runs a server on a journal with such a decider.
func tunes(t *testing.T) (*running, *tuner) {
	t.Helper()
	journal := journaltest.New(t, 1)
	d := journal.Decider(t, 0)
	d.Publish()
	u := &tuner{t: t, journal: journal, d: d, heads: map[string]*tuningv1.TuningSession{}, trials: map[string]uint32{}}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for answered := 0; ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
			answered = u.answer(answered)
		}
	}()
	t.Cleanup(func() { cancel(); <-ended })
	return start(t, journal, options{}).ready(t), u
}

func (u *tuner) answer(answered int) int {
	u.mu.Lock()
	defer u.mu.Unlock()
	records := u.journal.Read(u.t, u.journal.Reports)
	if u.silent || len(records) == answered {
		return answered
	}
	u.d.Begin()
	for _, record := range records[answered:] {
		command := &tuningv1.Command{}
		if err := proto.Unmarshal(record.Value, command); err != nil {
			u.t.Error(err)
		}
		answer := &tuningv1.Answer{RequestId: command.GetRequestId()}
		switch {
		case command.GetCreate() != nil:
			plan := command.GetCreate().GetPlan()
			if plan.GetMethod() == "guess" {
				answer.Refusal = &tuningv1.Refusal{Code: "INVALID_ARGUMENT", Field: "plan.method", Why: "method: 'guess' is not legal; legal: dds"}
			} else {
				u.put(&tuningv1.TuningSession{Plan: plan, Phase: tuningv1.Phase_PHASE_SEARCHING})
			}
		case command.GetAsk() != nil:
			name := command.GetAsk().GetSession()
			u.trial(name, &tuningv1.Trial{Number: u.trials[name]})
			answer.Trials = []uint32{u.trials[name]}
			u.trials[name]++
		case command.GetTell() != nil && command.GetTell().GetTrial() > 9:
			answer.Refusal = &tuningv1.Refusal{Code: "ALREADY_EXISTS", Why: "trial 10 already has an outcome"}
		case command.GetTell() != nil:
			tell := command.GetTell()
			u.trial(tell.GetSession(), &tuningv1.Trial{Number: tell.GetTrial(), Outcome: tell.GetOutcome(), AppliedAt: tell.GetAppliedAt()})
		case command.GetStop() != nil:
			head := proto.CloneOf(u.heads[command.GetStop().GetSession()])
			head.Phase, head.Why = tuningv1.Phase_PHASE_STOPPED, command.GetStop().GetWhy()
			u.put(head)
		}
		u.answers = append(u.answers, answer)
	}
	u.d.Put(u.journal.Decisions, keys.Answers(0).Record(), &tuningv1.Answers{Answers: u.answers})
	u.d.Heartbeat()
	u.d.End(true)
	return len(records)
}

func (u *tuner) put(head *tuningv1.TuningSession) {
	name := head.GetPlan().GetName()
	u.heads[name] = head
	u.d.Put(u.journal.Decisions, keys.SessionKey(name).Record(),
		&tuningv1.SessionRecord{Session: name, Record: &tuningv1.SessionRecord_Head{Head: head}})
	u.d.Put(u.journal.Explanations, keys.SessionKey(name).Record(), &tuningv1.ExplainSessionResponse{
		Changed: []*tuningv1.Configuration_Setting{{Parameter: head.GetPhase().String()}},
	})
}

func (u *tuner) trial(session string, trial *tuningv1.Trial) {
	u.d.Put(u.journal.Decisions, keys.Tuning{Session: session, Trial: int64(trial.GetNumber())}.Record(),
		&tuningv1.SessionRecord{Session: session, Record: &tuningv1.SessionRecord_Trial{Trial: trial}})
}

func plan(name, target string) *tuningv1.CreateSessionRequest {
	return &tuningv1.CreateSessionRequest{Plan: &tuningv1.Plan{Name: name, Target: target, Method: "dds"}}
}

func TestASessionFromItsCreationToItsEnd(t *testing.T) {
	r, _ := tunes(t)
	ctx := t.Context()
	created, err := r.tuning.CreateSession(ctx, plan("first/try", "shop"))
	must(t, err)
	if created.GetSession().GetPhase() != tuningv1.Phase_PHASE_SEARCHING {
		t.Error(created)
	}
	for number := range uint32(2) {
		trials, err := r.tuning.AskTrials(ctx, &tuningv1.AskTrialsRequest{Session: "first/try", Count: 1})
		must(t, err)
		if len(trials.GetTrials()) != 1 || trials.GetTrials()[0].GetNumber() != number {
			t.Fatal(trials)
		}
	}
	_, err = r.tuning.TellTrial(ctx, &tuningv1.TellTrialRequest{Session: "first/try", Trial: 1, AppliedAt: timestamppb.Now()})
	must(t, err)
	got, err := r.tuning.GetSession(ctx, &tuningv1.GetSessionRequest{Session: "first/try"})
	must(t, err)
	if len(got.GetSession().GetTrials()) != 2 || got.GetSession().GetTrials()[1].GetAppliedAt() == nil {
		t.Error(got)
	}
	stopped, err := r.tuning.StopSession(ctx, &tuningv1.StopSessionRequest{Session: "first/try", Why: "a release"})
	must(t, err)
	if stopped.GetSession().GetWhy() != "a release" || len(stopped.GetSession().GetTrials()) != 2 {
		t.Error(stopped)
	}
	var explained *tuningv1.ExplainSessionResponse
	eventually(t, "it is explained", func() bool {
		explained, err = r.tuning.ExplainSession(ctx, &tuningv1.ExplainSessionRequest{Session: "first/try"})
		return err == nil && len(explained.GetChanged()) > 0 && explained.GetChanged()[0].GetParameter() == "PHASE_STOPPED"
	})
	if len(explained.GetSession().GetTrials()) != 0 || explained.GetSession().GetWhy() != "a release" {
		t.Error(explained)
	}
}

func TestSessionsAreListedByTargetAndInPages(t *testing.T) {
	r, _ := tunes(t)
	for i, target := range []string{"shop", "shop", "bank"} {
		_, err := r.tuning.CreateSession(t.Context(), plan(fmt.Sprintf("s%d", i), target))
		must(t, err)
	}
	for want, request := range map[string]*tuningv1.ListSessionsRequest{
		"s0 s1 s2 ": {PageSize: 2}, "s0 s1 ": {Target: "shop", PageSize: 1}, "s2 ": {Target: "bank"}, "": {Target: "none"},
	} {
		text := ""
		for {
			page, err := r.tuning.ListSessions(t.Context(), request)
			must(t, err)
			for _, session := range page.GetSessions() {
				text += session.GetPlan().GetName() + " "
			}
			if request.PageToken = page.GetNextPageToken(); request.PageToken == "" {
				break
			}
		}
		if text != want {
			t.Errorf("%v: %q, want %q", request, text, want)
		}
	}
}

func TestAWatchOfASessionGoesOnWhereItWas(t *testing.T) {
	r, _ := tunes(t)
	for _, name := range []string{"first", "second"} {
		_, err := r.tuning.CreateSession(t.Context(), plan(name, name))
		must(t, err)
	}
	ask := func(session string) {
		_, err := r.tuning.AskTrials(t.Context(), &tuningv1.AskTrialsRequest{Session: session, Count: 1})
		must(t, err)
	}
	ask("first")
	watch := func(token string, until func(*tuningv1.WatchSessionResponse) bool) (events, last string) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		stream, err := r.tuning.WatchSession(ctx, &tuningv1.WatchSessionRequest{Session: "first", ResumeToken: token})
		must(t, err)
		for {
			event, err := stream.Recv()
			must(t, err)
			switch {
			case event.GetSession() != nil:
				events += event.GetSession().GetPlan().GetName() + " "
			case event.GetTrial() != nil:
				events += fmt.Sprint(event.GetTrial().GetNumber(), " ")
			case event.GetSnapshot() != nil:
				events += "all "
			}
			if last = event.GetResumeToken(); until(event) {
				return events, last
			}
		}
	}
	beat := func(event *tuningv1.WatchSessionResponse) bool { return event.GetHeartbeat() != nil }
	events, token := watch("", beat)
	if events != "first 0 all " {
		t.Error(events)
	}
	ask("second")
	ask("first")
	if events, _ = watch(token, beat); events != "1 " {
		t.Error(events)
	}
}

func TestBadInputAtEveryEntryOfTuning(t *testing.T) {
	r, u := tunes(t)
	ctx, long := t.Context(), strings.Repeat("x", 3000)
	_, err := r.tuning.CreateSession(ctx, &tuningv1.CreateSessionRequest{})
	assertError(t, err, codes.InvalidArgument, problem.FieldEmpty, "plan")
	_, err = r.tuning.CreateSession(ctx, plan("", "shop"))
	assertError(t, err, codes.InvalidArgument, problem.FieldEmpty, "plan.name")
	_, err = r.tuning.CreateSession(ctx, plan(long, "shop"))
	assertError(t, err, codes.InvalidArgument, problem.FieldNotLegal, "plan.name")
	wrong := plan("first", "shop")
	wrong.Plan.Method = "guess"
	_, err = r.tuning.CreateSession(ctx, wrong)
	assertError(t, err, codes.InvalidArgument, problem.FieldNotLegal, "plan.method")
	_, err = r.tuning.AskTrials(ctx, &tuningv1.AskTrialsRequest{Session: "first"})
	assertError(t, err, codes.NotFound, problem.SessionUnknown, "")
	_, err = r.tuning.GetSession(ctx, &tuningv1.GetSessionRequest{})
	assertError(t, err, codes.InvalidArgument, problem.FieldEmpty, "session")
	_, err = r.tuning.CreateSession(ctx, plan("first", "shop"))
	must(t, err)
	_, err = r.tuning.AskTrials(ctx, &tuningv1.AskTrialsRequest{Session: "first", RequestId: "two words"})
	assertError(t, err, codes.InvalidArgument, problem.FieldNotLegal, "request_id")
	_, err = r.tuning.TellTrial(ctx, &tuningv1.TellTrialRequest{Session: "first", Trial: 10})
	assertError(t, err, codes.AlreadyExists, problem.SessionRefused, "")
	_, err = r.tuning.StopSession(ctx, &tuningv1.StopSessionRequest{Session: "first", Why: long})
	assertError(t, err, codes.InvalidArgument, problem.FieldNotLegal, "why")
	_, err = r.tuning.ListSessions(ctx, &tuningv1.ListSessionsRequest{PageSize: 2000})
	assertError(t, err, codes.InvalidArgument, problem.FieldNotLegal, "page_size")
	stream, err := r.tuning.WatchSession(ctx, &tuningv1.WatchSessionRequest{Session: "nobody"})
	must(t, err)
	_, err = stream.Recv()
	assertError(t, err, codes.NotFound, problem.SessionUnknown, "")

	u.mu.Lock()
	u.silent = true
	u.mu.Unlock()
	within, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	_, err = r.tuning.AskTrials(within, &tuningv1.AskTrialsRequest{Session: "first", Count: 1})
	refused(t, err, codes.DeadlineExceeded)
}
