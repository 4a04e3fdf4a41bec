package xds

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sluice.dev/serve/internal/table"
)

// version has the places in the journal of a resource's sources, and a hash of its content. By the content a restarted server, or
// another one, sees that a client already has it. By the places it sees that a client is ahead of it. As text:
// TOPIC@SHARD:OFFSET,...=CONTENT. A resource that does not depend on the journal has no places.
type version struct {
	topic   string
	places  map[int32]int64
	content string
}

func (v version) String() string {
	var places []string
	for _, shard := range slices.Sorted(maps.Keys(v.places)) {
		places = append(places, fmt.Sprintf("%d:%d", shard, v.places[shard]))
	}
	return v.topic + "@" + strings.Join(places, ",") + "=" + v.content
}

// parseVersion is the inverse of String; the zero version for any other text, which equals no content.
func parseVersion(text string) version {
	topic, rest, ok := strings.Cut(text, "@")
	places, content, also := strings.Cut(rest, "=")
	if !ok || !also {
		return version{}
	}
	v := version{topic: topic, places: map[int32]int64{}, content: content}
	for _, place := range strings.Split(places, ",") {
		if place == "" {
			continue
		}
		shard, offset, _ := strings.Cut(place, ":")
		n, err := strconv.ParseInt(shard, 10, 32)
		at, err2 := strconv.ParseInt(offset, 10, 64)
		if err != nil || err2 != nil || n < 0 || at < 0 { // a client can send any text
			return version{}
		}
		v.places[int32(n)] = at
	}
	return v
}

// sameContent is true for two versions with the same content.
func sameContent(one, other string) bool {
	return one == other || one != "" && other != "" && parseVersion(one).content == parseVersion(other).content
}

// add moves v to the place of a further record.
func (v *version) add(shard int32, offset int64) {
	if v.places == nil {
		v.places = map[int32]int64{}
	}
	v.places[shard] = max(v.places[shard], offset)
}

func contentOf(bytes []byte) string {
	sum := fnv.New64a()
	sum.Write(bytes)
	return hex.EncodeToString(sum.Sum(nil))
}

// combinedVersion is the version of several resources.
func combinedVersion(resources []resource) version {
	combined := version{}
	var text strings.Builder
	for _, part := range slices.SortedFunc(slices.Values(resources), func(a, b resource) int { return cmp.Compare(a.name, b.name) }) {
		fmt.Fprintf(&text, "%q %s\n", part.name, part.version.content)
		if part.version.topic != "" {
			combined.topic = part.version.topic
		}
		for shard, offset := range part.version.places {
			combined.add(shard, offset)
		}
	}
	combined.content = contentOf([]byte(text.String()))
	return combined
}

func topicName(topic table.Topic) string { return hex.EncodeToString(topic[:4]) }

// ahead is true if v has a place that this server has not read yet.
func ahead[K table.Key[K], V any](v version, view *table.View[K, V]) bool {
	if v.topic != topicName(view.Topic) {
		return false
	}
	for shard, offset := range v.places {
		if int(shard) < len(view.Shards) && offset >= view.Shards[shard].Position {
			return true
		}
	}
	return false
}
