package realize

import (
	"strings"
	"testing"
)

func keyFrom(t *testing.T, c Config) string {
	t.Helper()
	opened, err := c.Open()
	if err != nil {
		t.Fatal(err)
	}
	reached, ok := opened.(Reached)
	if !ok {
		t.Fatalf("%T has no key", opened)
	}
	return reached.Key("Shop-1")
}

func handlerAt(url string) Config { c := DefaultHandler(); c.URL = url; return &c }
func tomcatAt(url string) Config  { c := DefaultTomcat(); c.URL = url; return &c }

func httpAt(read, write, pointer string) Config {
	c := DefaultHTTP()
	c.Read.URL, c.Write.URL, c.Read.Pointer = read, write, pointer
	return &c
}

func TestAKeyIsWhatIsWritten(t *testing.T) {
	hikariAt, jmxAt := DefaultHikari(), DefaultJMX()
	hikariAt.URL, jmxAt.URL, jmxAt.MBean, jmxAt.Attribute = "http://app:8778/jolokia", "http://app:8778/jolokia", "a:b=c", "Max"
	for _, each := range []struct {
		config Config
		want   string
	}{
		{handlerAt("http://127.0.0.1:8099/rows"), "http shop-1:8099/rows /size"},
		{handlerAt("http://LOCALHOST:8099/rows"), "http shop-1:8099/rows /size"},
		{handlerAt("http://user:secret@shop-1.:8099/rows"), "http shop-1:8099/rows /size"},
		{handlerAt("http://[::1]/rows"), "http shop-1:80/rows /size"},
		{handlerAt("https://[FD00::1]/rows"), "http [fd00::1]:443/rows /size"},
		{httpAt("http://app:1/p", "http://app:1/p", "/size"), "http app:1/p /size"},
		{tomcatAt("http://app:8778/jolokia/"), `jolokia app:8778/jolokia *:type=ThreadPool,name="http*" maxThreads`},
		{&hikariAt, "jolokia app:8778/jolokia hikari *"},
		{&jmxAt, "jolokia app:8778/jolokia a:b=c Max"},
	} {
		if got := keyFrom(t, each.config); got != each.want {
			t.Errorf("%q, want %q", got, each.want)
		}
	}
}

func TestAKeyTellsPoolsApartAndShowsNoSecret(t *testing.T) {
	keys := map[string]bool{}
	for _, c := range []Config{
		httpAt("http://app/p", "http://app/p", "/a"), httpAt("http://app/p", "http://app/p", "/b"),
		httpAt("http://app/p?token=secret&pool=a", "http://app/p?token=secret&pool=a", "/a"),
		httpAt("http://app/p?token=secret&pool=b", "http://app/p?token=secret&pool=b", "/a"),
		httpAt("http://app/q", "http://app/p", "/a"),
	} {
		key := keyFrom(t, c)
		if keys[key] || strings.Contains(key, "secret") {
			t.Errorf("%q is another's, or has a secret", key)
		}
		keys[key] = true
	}
	long := strings.Repeat("é", 400)
	one, two := keyFrom(t, httpAt("http://app/p", "http://app/p", "/"+long+"1")), keyFrom(t, httpAt("http://app/p", "http://app/p", "/"+long+"2"))
	if one == two || len(one) > maxKey {
		t.Errorf("long keys of %d bytes: %q %q", len(one), one, two)
	}
}
