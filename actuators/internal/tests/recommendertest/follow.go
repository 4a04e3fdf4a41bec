package recommendertest

import (
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// follow sends the first events of a watch, and then the changes, until the watch ends or is broken. since is called with the
// lock. It returns the events for a watcher that has everything up to the set `position`, or all events when that is not known.
// The last event has a token.
func follow[E any, P interface {
	*E
	GetResumeToken() string
}](s *Server, stream grpc.ServerStreamingServer[E], token string, since func(known bool, position int) []P) error {
	s.mu.Lock()
	broken := s.broken
	s.mu.Unlock()
	for {
		s.mu.Lock()
		events, news := since(s.position(token)), s.news
		s.mu.Unlock()
		for _, event := range events {
			if err := stream.Send(event); err != nil {
				return err
			}
			token = event.GetResumeToken()
		}
		select {
		case <-stream.Context().Done():
			return status.FromContextError(stream.Context().Err()).Err()
		case <-broken:
			return status.Error(codes.Unavailable, "broken by the test")
		case <-news:
		}
	}
}

// token stands for all sets so far, in this run of Listen.
func (s *Server) token() string { return fmt.Sprintf("%d.%d", s.run, s.number) }

// position returns the set of a token; known is false for a token of another run, or none.
func (s *Server) position(token string) (known bool, set int) {
	var run int
	_, err := fmt.Sscanf(token, "%d.%d", &run, &set)
	return err == nil && run == s.run, set
}
