package calls

import (
	"context"
	"fmt"
	"math"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"sluice.dev/serve/internal/keys"
	"sluice.dev/serve/internal/problem"
	"sluice.dev/serve/internal/topics"
	"sluice.dev/serve/internal/watch"

	tuningv1 "sluice.dev/api/tuning/v1"
)

const (
	// usualListed is the default number of sessions in a page.
	usualListed = 100
	legalName   = "the name of a session"
)

// Tuning is TuningService, from the same reading as pools.
type Tuning struct {
	tuningv1.UnimplementedTuningServiceServer
	*Service
}

// GetSession implements the service.
func (s Tuning) GetSession(_ context.Context, request *tuningv1.GetSessionRequest) (*tuningv1.GetSessionResponse, error) {
	session, _, err := s.sessionWithTrials(request.GetSession())
	if err != nil {
		return nil, err
	}
	return &tuningv1.GetSessionResponse{Session: session}, nil
}

// ListSessions implements the service.
func (s Tuning) ListSessions(_ context.Context, request *tuningv1.ListSessionsRequest) (*tuningv1.ListSessionsResponse, error) {
	if err := checkName("target", request.GetTarget(), "the target of sessions, or empty", false); err != nil {
		return nil, err
	}
	if size := request.GetPageSize(); size < 0 || size > 1000 {
		return nil, problem.NotLegal("page_size", size, "0 to 1000")
	}
	reading, err := s.read()
	if err != nil {
		return nil, err
	}
	heads, _, _ := reading.Tables.Tunings.Page(keys.Tuning{}, math.MaxInt, func(key keys.Tuning) bool { return key.Trial == keys.Head })
	selected := map[keys.Tuning]bool{}
	for _, e := range heads {
		selected[e.Key] = request.GetTarget() == "" || e.Publication.GetHead().GetPlan().GetTarget() == request.GetTarget()
	}
	pageRequest := proto.CloneOf(request)
	if pageRequest.GetPageSize() == 0 {
		pageRequest.PageSize = usualListed
	}
	page, next, _, err := selectPage(reading.Tables.Tunings, pageRequest, keys.ParseTuning, request.GetTarget(), mostBytes,
		func(key keys.Tuning) bool { return selected[key] })
	if err != nil {
		return nil, err
	}
	response := &tuningv1.ListSessionsResponse{NextPageToken: next}
	for _, e := range page {
		response.Sessions = append(response.Sessions, e.Publication.GetHead())
	}
	return response, nil
}

// WatchSession implements the service.
func (s Tuning) WatchSession(request *tuningv1.WatchSessionRequest, stream tuningv1.TuningService_WatchSessionServer) error {
	if _, _, err := s.sessionHead(request.GetSession()); err != nil {
		return err
	}
	return runWatch(s.Service, request.GetResumeToken(), stream, func(reading *topics.Reading) watch.Watch[keys.Tuning, *tuningv1.SessionRecord] {
		return watch.Watch[keys.Tuning, *tuningv1.SessionRecord]{
			Table: reading.Tables.Tunings, Filter: watch.TuningFilter(request.GetSession()), Encoder: watch.TuningEncoder,
		}
	})
}

// ExplainSession implements the service.
func (s Tuning) ExplainSession(ctx context.Context, request *tuningv1.ExplainSessionRequest) (*tuningv1.ExplainSessionResponse, error) {
	head, reading, err := s.sessionHead(request.GetSession())
	if err != nil {
		return nil, err
	}
	response := &tuningv1.ExplainSessionResponse{}
	if _, err := s.fetch(ctx, reading, keys.SessionKey(request.GetSession()).Record(), response); err != nil {
		return nil, err
	}
	response.Session = head
	return response, nil
}

// sessionHead is a session without its trials.
func (s Tuning) sessionHead(session string) (*tuningv1.TuningSession, *topics.Reading, error) {
	if err := checkName("session", session, legalName, true); err != nil {
		return nil, nil, err
	}
	reading, err := s.read()
	if err != nil {
		return nil, nil, err
	}
	e, _ := reading.Tables.Tunings.Get(keys.SessionKey(session))
	if e == nil {
		return nil, nil, problem.New(codes.NotFound, problem.SessionUnknown, fmt.Sprintf("there is no session %q", session), "session", session)
	}
	return e.Publication.GetHead(), reading, nil
}

// sessionWithTrials is a session with its trials.
func (s Tuning) sessionWithTrials(session string) (*tuningv1.TuningSession, *topics.Reading, error) {
	head, reading, err := s.sessionHead(session)
	if err != nil {
		return nil, nil, err
	}
	withTrials := proto.CloneOf(head)
	for _, e := range reading.Tables.Tunings.InGroup(session) {
		if e.Key.Trial != keys.Head {
			withTrials.Trials = append(withTrials.Trials, e.Publication.GetTrial())
		}
	}
	return withTrials, reading, nil
}
