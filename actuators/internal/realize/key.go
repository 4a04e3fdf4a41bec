package realize

import (
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/url"
	"strings"
)

// Reached is a realizer whose target processes of several hosts reach.
type Reached interface {
	// Key names what is written, the same for every process that writes it, however that names the target; it has no
	// credentials. host is this one's name, which stands for addresses of the loopback: elsewhere these are another target.
	// Empty: other hosts do not reach it.
	Key(host string) string
}

// maxKey is as long as the recommender takes a key.
const maxKey = 400

// keyOf is "KIND HOST:PORT/PATH PART...". What stands in queries is told apart by a digest, since it may hold secrets.
func keyOf(kind, host, written, read string, parts ...string) string {
	at, query := location(written, host)
	words := append([]string{kind, at}, parts...)
	if from, asked := location(read, host); from != at || query != "" || asked != "" {
		words = append(words, digest(query+"\n"+from+"\n"+asked))
	}
	key := strings.Join(words, " ")
	if len(key) > maxKey {
		key = strings.ToValidUTF8(key[:maxKey-20], "") + " " + digest(key)
	}
	return key
}

// location is where a URL leads, without user, password, query and fragment, and the query.
func location(text, host string) (at, query string) {
	u, err := url.Parse(text)
	if err != nil {
		return "", text // Validate has refused it
	}
	name, port := strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), u.Port()
	if ip := net.ParseIP(name); name == "localhost" || ip != nil && ip.IsLoopback() {
		name = strings.ToLower(host)
	} else if ip != nil {
		name = ip.String()
	}
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(name, port) + u.EscapedPath(), u.RawQuery
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:4])
}

// Key implements Reached.
func (h *HTTP) Key(host string) string {
	written, err := render("write.url", h.config.Write.URL, 1)
	if err != nil {
		written = h.config.Write.URL // Validate has refused it
	}
	return keyOf("http", host, written, h.config.Read.URL, h.config.Read.Pointer)
}

func (j *jolokia) key(host string, parts ...string) string {
	agent := strings.TrimRight(j.url, "/")
	return keyOf("jolokia", host, agent, agent, parts...)
}

// Key implements Reached.
func (t *tomcat) Key(host string) string { return t.agent.key(host, t.mbean, "maxThreads") }

// Key implements Reached.
func (j *jmx) Key(host string) string {
	return j.agent.key(host, j.config.MBean, j.config.Attribute)
}

// Key implements Reached.
func (h *hikari) Key(host string) string { return h.agent.key(host, "hikari", h.config.Pool) }

// Key implements Reached, for what is reached.
func (s poolSetting) Key(host string) string {
	if reached, ok := s.target.(Reached); ok {
		return reached.Key(host)
	}
	return ""
}

// Key implements Reached: a pool that is written in the same place has the same.
func (s *httpSetting) Key(host string) string {
	written, err := fillIn("write.url", s.config.Write.URL, "1")
	if err != nil {
		written = s.config.Write.URL // Validate has refused it
	}
	return keyOf("http", host, written, s.config.Read.URL, s.config.Read.Pointer)
}

// Key implements Reached.
func (s *jmxSetting) Key(host string) string {
	return s.agent.key(host, s.config.MBean, s.config.Attribute)
}
