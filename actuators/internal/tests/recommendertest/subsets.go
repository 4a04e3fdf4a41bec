package recommendertest

import (
	"context"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	commonv1 "sluice.dev/api/common/v1"
	subsetsv1 "sluice.dev/api/subsets/v1"
)

// subsets is SubsetService, with the same promises.
type subsets struct {
	subsetsv1.UnimplementedSubsetServiceServer
	*Server
}

// Subset sets the subset of a caller, and sends it to the watchers.
func (s *Server) Subset(answer *subsetsv1.Subset) {
	s.change(func() {
		s.number++
		key := subsetKey(answer.GetKey())
		s.subsets[key], s.subsetAt[key] = answer, s.number
	})
}

// Delivered are the reports of subsets so far, each id once.
func (s *Server) Delivered() (all []*subsetsv1.Delivery) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, request := range s.deliveries {
		all = append(all, proto.CloneOf(request.GetDelivery()))
	}
	return all
}

func subsetKey(k *subsetsv1.SubsetKey) string {
	return fmt.Sprintf("%s/%s/%s", k.GetUpstream(), k.GetInstance(), k.GetDownstream())
}

// GetSubset implements the service.
func (s subsets) GetSubset(_ context.Context, request *subsetsv1.GetSubsetRequest) (*subsetsv1.GetSubsetResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := s.subsets[subsetKey(request.GetKey())]
	if answer == nil {
		return nil, status.Error(codes.NotFound, "no subset of that key")
	}
	return &subsetsv1.GetSubsetResponse{Subset: answer}, nil
}

// WatchSubsets implements the service.
func (s subsets) WatchSubsets(request *subsetsv1.WatchSubsetsRequest, stream subsetsv1.SubsetService_WatchSubsetsServer) error {
	return follow(s.Server, stream, request.GetResumeToken(), func(known bool, position int) (events []*subsetsv1.WatchSubsetsResponse) {
		for key, answer := range s.subsets {
			selected := answer.GetKey().GetUpstream() == request.GetUpstream() && answer.GetKey().GetInstance() == request.GetInstance()
			if selected && (!known || s.subsetAt[key] > position) {
				events = append(events, &subsetsv1.WatchSubsetsResponse{Event: &subsetsv1.WatchSubsetsResponse_Subset{Subset: answer}})
			}
		}
		last := &subsetsv1.WatchSubsetsResponse{ResumeToken: s.token()}
		if known {
			last.Event = &subsetsv1.WatchSubsetsResponse_Heartbeat{Heartbeat: &commonv1.Heartbeat{ComputedAt: timestamppb.Now()}}
		} else {
			last.Event = &subsetsv1.WatchSubsetsResponse_Snapshot{Snapshot: &commonv1.Snapshot{Answers: uint32(len(events))}}
		}
		return append(events, last)
	})
}

// ReportDelivery implements the service.
func (s subsets) ReportDelivery(_ context.Context, request *subsetsv1.ReportDeliveryRequest) (*subsetsv1.ReportDeliveryResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, earlier := range s.deliveries {
		if earlier.GetRequestId() == request.GetRequestId() {
			return &subsetsv1.ReportDeliveryResponse{}, nil
		}
	}
	s.deliveries = append(s.deliveries, proto.CloneOf(request))
	return &subsetsv1.ReportDeliveryResponse{}, nil
}
