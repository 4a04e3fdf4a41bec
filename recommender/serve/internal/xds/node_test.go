package xds

import (
	"testing"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/types/known/structpb"
)

func TestNodesAndTheirContainers(t *testing.T) {
	const sidecar = "sidecar~10.0.0.1~cart-7d9-x.shop~shop.svc.cluster.local"
	for _, tt := range []struct {
		id, metadata, upstream, instance string
	}{
		{"cart~cart-1", `{}`, "cart", "cart-1"},
		{"a%7Eb~b%251", `{}`, "a~b", "b%1"},
		{"any", `{"service": "cart", "instance": "cart-1"}`, "cart", "cart-1"},
		{sidecar, `{"NAME": "cart-7d9-x", "LABELS": {"app": "cart"}}`, "cart", "cart-7d9-x"},
		{sidecar, `{"NAME": "cart-7d9-x", "LABELS": {"app": "cart", "service.istio.io/canonical-name": "basket"}}`, "basket", "cart-7d9-x"},
		{sidecar, `{"service": "shop-cart", "NAME": "cart-7d9-x", "LABELS": {"app": "cart"}}`, "shop-cart", "cart-7d9-x"},
		{sidecar, `{"NAME": "cart-7d9-x"}`, "", ""},
		{sidecar, `{"LABELS": {"app": "cart"}}`, "", ""},
		{"cart", `{}`, "", ""},
		{"cart~%zz", `{}`, "", ""},
	} {
		metadata := &structpb.Struct{}
		if err := metadata.UnmarshalJSON([]byte(tt.metadata)); err != nil {
			t.Fatal(err)
		}
		got, err := nodeOf(&core.Node{Id: tt.id, Metadata: metadata})
		if (err != nil) != (tt.upstream == "") || got.upstream != tt.upstream || got.instance != tt.instance {
			t.Errorf("%s %s: %+v %v", tt.id, tt.metadata, got, err)
		}
	}
}
