// Package hostiletest makes messages that no honest caller sends, from the descriptors of the methods: numbers at the ends of
// their range and none, values of enums that are not declared, names with control characters, and long ones.
package hostiletest

import (
	"math"
	"math/rand/v2"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
)

// deepest bounds the nesting of a message; recursive types have no other end.
const deepest = 5

// Texts are strings that some reader of names takes for more than a name.
var Texts = []string{
	"", " ", "\x00", "\x1b]0;owned\x07\x1b[2J", "a\r\nSet-Cookie: b=c", "../../etc/passwd", "';DROP TABLE windows;--", "`}) DETACH DELETE n //",
	"$(id)`id`", "{{7*7}}${7*7}<script>", "%00%ff%", "a/b/c~d", "\u202egnp.exe", "\ufeff", "🧵" + strings.Repeat("é", 200), strings.Repeat("x", 513),
	strings.Repeat("\x01", 512), strings.Repeat("/", 40_000),
}

var (
	integers = []int64{0, 1, -1, 2, 100, math.MinInt64, math.MaxInt64, math.MinInt32, math.MaxInt32, 1 << 53}
	floats   = []float64{0, -1, 1, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, math.SmallestNonzeroFloat64, math.Copysign(0, -1)}
)

// Maker makes random messages. Legal has texts by the name of a field that lead past the first check of a request.
type Maker struct {
	Random *rand.Rand
	Legal  map[protoreflect.Name][]string
}

// Message is a message of a type; a part of the fields is set.
func (m Maker) Message(of protoreflect.MessageDescriptor) proto.Message {
	return m.message(of, 0).Interface()
}

func (m Maker) message(of protoreflect.MessageDescriptor, depth int) *dynamicpb.Message {
	message := dynamicpb.NewMessage(of)
	fields := of.Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		if m.Random.IntN(10) < 3 || field.Message() != nil && depth >= deepest {
			continue
		}
		switch {
		case field.IsMap():
			entries := message.Mutable(field).Map()
			for range m.Random.IntN(3) {
				key := m.scalar(field.MapKey()).MapKey()
				entries.Set(key, m.value(field.MapValue(), depth))
			}
		case field.IsList():
			list := message.Mutable(field).List()
			for range m.count() {
				list.Append(m.value(field, depth))
			}
		default:
			message.Set(field, m.value(field, depth))
		}
	}
	return message
}

func (m Maker) count() int {
	if m.Random.IntN(50) == 0 {
		return 1100
	}
	return m.Random.IntN(3)
}

func (m Maker) value(field protoreflect.FieldDescriptor, depth int) protoreflect.Value {
	if field.Message() != nil {
		return protoreflect.ValueOfMessage(m.message(field.Message(), depth+1))
	}
	return m.scalar(field)
}

func (m Maker) scalar(field protoreflect.FieldDescriptor) protoreflect.Value {
	number := integers[m.Random.IntN(len(integers))]
	switch field.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(number&1 == 1)
	case protoreflect.EnumKind:
		if m.Random.IntN(2) == 0 {
			values := field.Enum().Values()
			return protoreflect.ValueOfEnum(values.Get(m.Random.IntN(values.Len())).Number())
		}
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(number))
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return protoreflect.ValueOfInt32(int32(number))
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(uint32(number))
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return protoreflect.ValueOfInt64(number)
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(uint64(number))
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(float32(floats[m.Random.IntN(len(floats))]))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(floats[m.Random.IntN(len(floats))])
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte(m.text(field.Name())))
	default:
		return protoreflect.ValueOfString(m.text(field.Name()))
	}
}

func (m Maker) text(field protoreflect.Name) string {
	if legal := m.Legal[field]; len(legal) > 0 && m.Random.IntN(3) > 0 {
		return legal[m.Random.IntN(len(legal))]
	}
	return Texts[m.Random.IntN(len(Texts))]
}

// Bytes are the bytes of a message; at times some of them are changed or missing, or there are 10 MB of them.
func (m Maker) Bytes(of protoreflect.MessageDescriptor) []byte {
	content, err := proto.Marshal(m.Message(of))
	if err != nil {
		panic(err) // every text is UTF-8
	}
	switch m.Random.IntN(24) {
	case 0:
		content = content[:m.Random.IntN(len(content)+1)]
	case 1, 2:
		for range min(len(content), 3) {
			content[m.Random.IntN(len(content))] ^= byte(1 << m.Random.IntN(8))
		}
	case 3:
		if m.Random.IntN(8) == 0 {
			content = append(content, make([]byte, 10<<20)...)
		}
	}
	return content
}
