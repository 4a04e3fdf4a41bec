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
	// commandPatience is how long a caller without a deadline waits for a decider.
	commandPatience = 20 * time.Second
)

// CreateSession implements the service.
func (s Tuning) CreateSession(ctx context.Context, request *tuningv1.CreateSessionRequest) (*tuningv1.CreateSessionResponse, error) {
	if request.GetPlan() == nil {
		return nil, problem.Empty("plan", "the plan of the session")
	}
	sessionName := request.GetPlan().GetName()
	if err := firstOf(
		checkName("plan.name", sessionName, "unique among all sessions", true),
		checkName("plan.target", request.GetPlan().GetTarget(), "the application that the session configures", true),
		checkName("warm_start", request.GetWarmStart(), legalName+", or empty", false),
	); err != nil {
		return nil, err
	}
	if _, err := s.command(ctx, sessionName, &tuningv1.Command{Command: &tuningv1.Command_Create{Create: request}}); err != nil {
		return nil, err
	}
	session, _, err := s.sessionWithTrials(sessionName)
	return &tuningv1.CreateSessionResponse{Session: session}, err
}

// AskTrials implements the service.
func (s Tuning) AskTrials(ctx context.Context, request *tuningv1.AskTrialsRequest) (*tuningv1.AskTrialsResponse, error) {
	session, reading, err := s.sessionHead(request.GetSession())
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
		if e, _ := reading.Tables.Tunings.Get(keys.Tuning{Session: request.GetSession(), Trial: int64(number)}); e != nil {
			response.Trials = append(response.Trials, e.Publication.GetTrial())
		}
	}
	return response, nil
}

// TellTrial implements the service.
func (s Tuning) TellTrial(ctx context.Context, request *tuningv1.TellTrialRequest) (*tuningv1.TellTrialResponse, error) {
	if _, _, err := s.sessionHead(request.GetSession()); err != nil {
		return nil, err
	}
	if err := firstOf(checkText("outcome.why", request.GetOutcome().GetWhy(), mostWhy), checkTime("applied_at", request.GetAppliedAt())); err != nil {
		return nil, err
	}
	if _, err := s.command(ctx, request.GetSession(), &tuningv1.Command{Command: &tuningv1.Command_Tell{Tell: request}}); err != nil {
		return nil, err
	}
	session, _, err := s.sessionHead(request.GetSession())
	return &tuningv1.TellTrialResponse{Phase: session.GetPhase(), Why: session.GetWhy()}, err
}

// StopSession implements the service.
func (s Tuning) StopSession(ctx context.Context, request *tuningv1.StopSessionRequest) (*tuningv1.StopSessionResponse, error) {
	if _, _, err := s.sessionHead(request.GetSession()); err != nil {
		return nil, err
	}
	if err := checkText("why", request.GetWhy(), mostWhy); err != nil {
		return nil, err
	}
	if _, err := s.command(ctx, request.GetSession(), &tuningv1.Command{Command: &tuningv1.Command_Stop{Stop: request}}); err != nil {
		return nil, err
	}
	session, _, err := s.sessionWithTrials(request.GetSession())
	return &tuningv1.StopSessionResponse{Session: session}, err
}

// command writes a command into the journal and waits for the decider's answer. The command's changes are visible by then.
func (s Tuning) command(ctx context.Context, session string, command *tuningv1.Command) (*tuningv1.Answer, error) {
	reading, err := s.read()
	if err != nil {
		return nil, err
	}
	command.RequestId, command.Received, command.By = rand.Text(), timestamppb.Now(), callerName(ctx, "")
	if err := s.report(ctx, keys.SessionKey(session).Record(), command, tuningShard); err != nil {
		return nil, err
	}
	within, cancel := context.WithTimeout(ctx, commandPatience)
	defer cancel()
	answer, err := awaitResult(within, reading, command.GetRequestId())
	switch {
	case err == nil:
		return answer, refusalError(answer.GetRefusal())
	case ctx.Err() != nil:
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	return nil, err
}

func awaitResult(ctx context.Context, reading *topics.Reading, id string) (*tuningv1.Answer, error) {
	for {
		view := reading.Tables.Answers.View() // before the check, so that no answer is missed
		if e, _ := reading.Tables.Answers.Get(tuningShard); e != nil {
			answers := e.Publication.GetAnswers()
			for i := len(answers) - 1; i >= 0; i-- {
				if answers[i].GetRequestId() == id {
					return answers[i], nil
				}
			}
		}
		select {
		case <-view.Next():
		case <-reading.Tables.Answers.Closed():
			return nil, problem.Unavailable(problem.LogReplaced, "another journal replaced this one")
		case <-ctx.Done():
			return nil, problem.Unavailable(problem.NotAnswered,
				fmt.Sprintf("no decider answered within %v: the command may still take effect; check before you try again", commandPatience))
		}
	}
}

// refusalError returns the error of a refusal; nil without one.
func refusalError(refusal *tuningv1.Refusal) error {
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
