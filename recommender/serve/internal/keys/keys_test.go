package keys

import (
	"slices"
	"testing"

	poolsv1 "sluice.dev/api/pools/v1"
)

func TestRecordNamesAsPythonQuotesThem(t *testing.T) {
	for _, tt := range []struct {
		pool Pool
		want string
	}{
		{Pool{"cart", poolsv1.Side_SIDE_SERVER, ""}, "pool/cart/server/"},
		{Pool{"mail", poolsv1.Side_SIDE_CONSUMER, ""}, "pool/mail/consumer/"},
		{Pool{"a/b c+d", poolsv1.Side_SIDE_CLIENT, "ü@:~_.-"}, "pool/a%2Fb%20c%2Bd/client/%C3%BC%40%3A~_.-"},
	} {
		if got := tt.pool.Record(); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.pool, got, tt.want)
		}
		back, err := ParsePool(tt.want)
		if err != nil || back != tt.pool {
			t.Errorf("%q: %v %v", tt.want, back, err)
		}
	}
}

func TestKeysThatAreNone(t *testing.T) {
	for _, text := range []string{
		"", "pool", "pool/cart/server", "pool/cart/server/peer", "pool/cart/client/", "pool/mail/consumer/queue", "pool//server/",
		"pool/cart/other/", "facts/cart/server/", "pool/%zz/server/", "pool/a/b/c/d",
	} {
		if got, err := ParsePool(text); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
	for _, text := range []string{"shard/", "shard/-1", "shard/01", "shard/1/2", "shard/99999999999"} {
		if _, ok, err := ParseShard(text); !ok || err == nil {
			t.Errorf("%q was read", text)
		}
	}
	if _, ok, _ := ParseShard("pool/cart/server/"); ok {
		t.Error("a pool was taken for a shard")
	}
	if n, ok, err := ParseShard("shard/12"); n != 12 || !ok || err != nil {
		t.Error(n, ok, err)
	}
}

func TestOrderOfLists(t *testing.T) {
	pools := []Pool{{"b", 1, ""}, {"a", 2, "y"}, {"a", 2, "x"}, {"a", 1, ""}}
	slices.SortFunc(pools, Pool.Compare)
	want := []Pool{{"a", 1, ""}, {"a", 2, "x"}, {"a", 2, "y"}, {"b", 1, ""}}
	if !slices.Equal(pools, want) {
		t.Error(pools)
	}
}
