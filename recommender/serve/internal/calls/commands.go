package calls

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/serve/internal/keys"
	"sluice.dev/serve/internal/problem"
	"sluice.dev/serve/internal/topics"

	tuningv1 "sluice.dev/api/tuning/v1"
)

const (
	// tuningShard has all sessions: names, and the open session of a target, are unique among all of them.
	tuningShard = 0
	// answerPatience is how long a caller without a deadline waits for a decider.
	answerPatience = 20 * time.Second
)

// CreateSession implements the service.
func (s Tuning) CreateSession(ctx context.Context, request *tuningv1.CreateSessionRequest) (*tuningv1.CreateSessionResponse, error) {
	if request.GetPlan() == nil {
		return nil, problem.Empty("plan", "the plan of the session")
	}
	made := request.GetPlan().GetName()
	if err := firstOf(
		name("plan.name", made, "its own among all sessions", true),
		name("plan.target", request.GetPlan().GetTarget(), "the application whose configuration is set", true),
		name("warm_start", request.GetWarmStart(), legalName+", or empty", false),
	); err != nil {
		return nil, err
	}
	if _, err := s.command(ctx, made, &tuningv1.Command{Command: &tuningv1.Command_Create{Create: request}}); err != nil {
		return nil, err
	}
	session, _, err := s.whole(made)
	return &tuningv1.CreateSessionResponse{Session: session}, err
}

// AskTrials implements the service.
func (s Tuning) AskTrials(ctx context.Context, request *tuningv1.AskTrialsRequest) (*tuningv1.AskTrialsResponse, error) {
	session, reading, err := s.head(request.GetSession())
	if err == nil {
		err = checkID(request.GetRequestId())
	}
	if err != nil {
		return nil, err
	}
	answer, err := s.command(ctx, session.GetPlan().GetName(), &tuningv1.Command{Command: &tuningv1.Command_Ask{Ask: request}})
	if err != nil {
		return nil, err
	}
	response := &tuningv1.AskTrialsResponse{}
	for _, number := range answer.GetTrials() {
		if e, _ := reading.Log.Tunings.Get(keys.Tuning{Session: request.GetSession(), Trial: int64(number)}); e != nil {
			response.Trials = append(response.Trials, e.Answer.GetTrial())
		}
	}
	return response, nil
}

// TellTrial implements the service.
func (s Tuning) TellTrial(ctx context.Context, request *tuningv1.TellTrialRequest) (*tuningv1.TellTrialResponse, error) {
	if _, _, err := s.head(request.GetSession()); err != nil {
		return nil, err
	}
	if err := firstOf(text("outcome.why", request.GetOutcome().GetWhy(), mostWhy), at("applied_at", request.GetAppliedAt())); err != nil {
		return nil, err
	}
	if _, err := s.command(ctx, request.GetSession(), &tuningv1.Command{Command: &tuningv1.Command_Tell{Tell: request}}); err != nil {
		return nil, err
	}
	session, _, err := s.head(request.GetSession())
	return &tuningv1.TellTrialResponse{Phase: session.GetPhase(), Why: session.GetWhy()}, err
}

// StopSession implements the service.
func (s Tuning) StopSession(ctx context.Context, request *tuningv1.StopSessionRequest) (*tuningv1.StopSessionResponse, error) {
	if _, _, err := s.head(request.GetSession()); err != nil {
		return nil, err
	}
	if err := text("why", request.GetWhy(), mostWhy); err != nil {
		return nil, err
	}
	if _, err := s.command(ctx, request.GetSession(), &tuningv1.Command{Command: &tuningv1.Command_Stop{Stop: request}}); err != nil {
		return nil, err
	}
	session, _, err := s.whole(request.GetSession())
	return &tuningv1.StopSessionResponse{Session: session}, err
}

// command writes a command into the log and waits until the decider's answer to it has been read. The command's changes are
// visible by then.
func (s Tuning) command(ctx context.Context, session string, command *tuningv1.Command) (*tuningv1.Answer, error) {
	reading, err := s.read()
	if err != nil {
		return nil, err
	}
	command.RequestId, command.Received, command.By = rand.Text(), timestamppb.Now(), by(ctx, "")
	if err := s.report(ctx, keys.OfSession(session).Record(), command, tuningShard); err != nil {
		return nil, err
	}
	within, cancel := context.WithTimeout(ctx, answerPatience)
	defer cancel()
	answer, err := answered(within, reading, command.GetRequestId())
	switch {
	case err == nil:
		return answer, refused(answer.GetRefusal())
	case ctx.Err() != nil:
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	return nil, err
}

func answered(ctx context.Context, reading *topics.Reading, id string) (*tuningv1.Answer, error) {
	for {
		view := reading.Log.Answers.View() // before the check, so that no answer is missed
		if e, _ := reading.Log.Answers.Get(tuningShard); e != nil {
			all := e.Answer.GetAnswers()
			for i := len(all) - 1; i >= 0; i-- {
				if all[i].GetRequestId() == id {
					return all[i], nil
				}
			}
		}
		select {
		case <-view.Next():
		case <-reading.Log.Answers.Closed():
			return nil, problem.Unavailable(problem.LogReplaced, "the log was replaced by another")
		case <-ctx.Done():
			return nil, problem.Unavailable(problem.NotAnswered,
				fmt.Sprintf("no decider answered within %v: the command may still take effect; check before you try again", answerPatience))
		}
	}
}

// refused returns the error of a refusal; nil where there is none.
func refused(refusal *tuningv1.Refusal) error {
	if refusal == nil {
		return nil
	}
	code := codes.Internal
	_ = code.UnmarshalJSON([]byte(`"` + refusal.GetCode() + `"`)) // a later decider may send an unknown code
	reason := problem.SessionRefused
	if code == codes.InvalidArgument {
		reason = problem.FieldNotLegal
	}
	return problem.Refused(code, reason, refusal.GetField(), refusal.GetWhy())
}
