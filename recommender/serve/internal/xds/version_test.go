package xds

import (
	"testing"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/types/known/structpb"
)

func TestAVersionIsReadAgain(t *testing.T) {
	for _, v := range []version{
		{topic: "0a0b0c0d", places: map[int32]int64{0: 12, 3: 1 << 40}, content: "ff"}, {content: "ff"},
	} {
		if got := parseVersion(v.String()); got.String() != v.String() {
			t.Errorf("%s was read as %s", v, got)
		}
	}
	for _, text := range []string{"", "7", "a@b=c", "a@0:x=c", "@"} {
		if got := parseVersion(text); got.content != "" || got.places != nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}

func TestVersionsAreTheSameByContent(t *testing.T) {
	for _, tt := range []struct {
		one, other string
		want       bool
	}{
		{"t@0:1=a", "t@0:9=a", true}, {"t@0:1=a", "u@0:1=a", true}, {"t@0:1=a", "t@0:1=b", false},
		{"", "t@0:1=a", false}, {"", "", true}, {"rubbish", "t@0:1=a", false},
	} {
		if sameContent(tt.one, tt.other) != tt.want {
			t.Error(tt)
		}
	}
	b, c := resource{name: "b", version: version{topic: "t", places: map[int32]int64{0: 4}, content: "x"}},
		resource{name: "c", version: version{topic: "t", places: map[int32]int64{0: 2, 1: 7}, content: "y"}}
	if one, other := combinedVersion([]resource{b, c}), combinedVersion([]resource{c, b}); one.String() != other.String() || one.places[0] != 4 || one.places[1] != 7 {
		t.Error(one, other)
	}
	if sameContent(combinedVersion([]resource{b}).String(), combinedVersion([]resource{b, c}).String()) {
		t.Error("one and two are the same")
	}
}

func TestANodeIsAContainer(t *testing.T) {
	metadata := func(service, instance string) *structpb.Struct {
		s, err := structpb.NewStruct(map[string]any{"service": service, "instance": instance})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, tt := range []struct {
		given *core.Node
		want  node
	}{
		{&core.Node{Id: "a~a-1"}, node{"a~a-1", "a", "a-1"}},
		{&core.Node{Id: "a%7Eb~a-1~x"}, node{"a%7Eb~a-1~x", "a~b", "a-1~x"}},
		{&core.Node{Id: "sidecar", Metadata: metadata("a", "a-1")}, node{"sidecar", "a", "a-1"}},
		{&core.Node{Metadata: metadata("a", "a-1")}, node{"a~a-1", "a", "a-1"}},
		{&core.Node{Id: "a~a-1", Metadata: metadata("b", "")}, node{"a~a-1", "a", "a-1"}},
	} {
		if got, err := nodeOf(tt.given); err != nil || got != tt.want {
			t.Errorf("%v: %v %v", tt.given, got, err)
		}
	}
	for _, id := range []string{"", "a", "~", "a~", "~a-1", "a~%zz"} {
		if got, err := nodeOf(&core.Node{Id: id}); err == nil {
			t.Errorf("%q was read as %v", id, got)
		}
	}
}
