package xds

import (
	"fmt"
	"strings"

	cluster "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	"google.golang.org/protobuf/encoding/protojson"
)

// ParseOutlierDetection reads envoy.config.cluster.v3.OutlierDetection in the JSON form of protocol buffers, with Envoy's names
// (consecutive_5xx, base_ejection_time, ...). Nil for an empty text: clusters have none.
func ParseOutlierDetection(text string) (*cluster.OutlierDetection, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	message := &cluster.OutlierDetection{}
	if err := protojson.Unmarshal([]byte(text), message); err != nil {
		return nil, fmt.Errorf("%q is no OutlierDetection: %w", text, err)
	}
	if err := message.ValidateAll(); err != nil {
		return nil, err
	}
	return message, nil
}
