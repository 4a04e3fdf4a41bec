package calls

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/serve/internal/problem"

	subsetsv1 "sluice.dev/api/subsets/v1"
)

// ReportDelivery implements the service.
func (s Subsets) ReportDelivery(
	ctx context.Context, request *subsetsv1.ReportDeliveryRequest,
) (*subsetsv1.ReportDeliveryResponse, error) {
	delivery := request.GetDelivery()
	e, _, err := s.entry(delivery.GetKey(), "delivery.key")
	if err != nil {
		return nil, err
	}
	if err := checkID(request.GetRequestId()); err != nil {
		return nil, err
	}
	if err := checkDelivery(delivery, e.Publication.GetRevision()); err != nil {
		return nil, err
	}
	caller := callerName(ctx, delivery.GetClient())
	report := &subsetsv1.SubsetReport{
		RequestId: requestID(request.GetRequestId(), caller, delivery, delivery.GetAt() != nil), Received: timestamppb.Now(), By: caller,
		Delivery: delivery,
	}
	if err := s.report(ctx, e.Key.Record(), report, e.Shard); err != nil {
		return nil, err
	}
	return &subsetsv1.ReportDeliveryResponse{}, nil
}

// checkDelivery returns the faults of a report; newest is the revision of the newest subset here.
func checkDelivery(d *subsetsv1.Delivery, newest uint64) error {
	const f = "delivery."
	if err := firstOf(
		checkName(f+"client", d.GetClient(), "the client that applied or refused it", true),
		checkText(f+"detail", d.GetDetail(), mostDetail),
		checkTime(f+"at", d.GetAt()),
	); err != nil {
		return err
	}
	if _, known := subsetsv1.DeliveryOutcome_name[int32(d.GetOutcome())]; !known || d.GetOutcome() == 0 {
		return problem.NotLegal(f+"outcome", int32(d.GetOutcome()), enumNames(subsetsv1.DeliveryOutcome_name))
	}
	if d.GetRevision() > newest+mostAhead {
		return problem.NotLegal(f+"revision", d.GetRevision(), fmt.Sprintf("0 to %d, %d more than the newest subset's", newest+mostAhead, mostAhead))
	}
	return nil
}

// enumNames are the values of an enum except the first, which means none.
func enumNames(values map[int32]string) string {
	var names []string
	for n := int32(1); values[n] != ""; n++ {
		names = append(names, values[n])
	}
	return strings.Join(names, ", ")
}
