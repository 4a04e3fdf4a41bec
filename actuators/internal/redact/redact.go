// Package redact takes credentials out of errors before people see them: in audit rows, on /status, in logs.
package redact

import (
	"net/url"
	"regexp"
	"strings"
)

// Shown stands where a secret was.
const Shown = "..."

// shortest is the length from which a secret is looked for as a word: shorter ones would blank out what is none.
const shortest = 4

var (
	// Up to the last @: what else is lost, in a path with an @ in it, is less than a password that holds one.
	userinfo = regexp.MustCompile(`(://)[^\s"'<>?#]*@`)
	query    = regexp.MustCompile(`(://[^\s"'<>?#]*)[?#][^\s"'<>]*`)
)

// Text leaves of each URL in text neither user and password nor query and fragment.
func Text(text string) string {
	text = userinfo.ReplaceAllString(text, "${1}")
	return query.ReplaceAllString(text, "${1}?"+Shown)
}

// Secrets are the credentials that one configured target or source has. The zero value has none.
type Secrets struct{ words []string }

// Of gathers the values of headers and, of URLs, users, passwords and the values of queries: a server may repeat them in
// its answer, in any context.
func Of(headers map[string]string, urls ...string) Secrets {
	var s Secrets
	for _, value := range headers {
		s.add(value)
		if _, credential, found := strings.Cut(value, " "); found { // Bearer TOKEN
			s.add(credential)
		}
	}
	for _, text := range urls {
		u, err := url.Parse(text)
		if err != nil {
			continue // its errors are told by Text alone
		}
		if password, ok := u.User.Password(); ok {
			s.add(password, url.QueryEscape(password), url.PathEscape(password))
		}
		s.add(u.User.Username())
		for _, values := range u.Query() {
			for _, value := range values {
				s.add(value, url.QueryEscape(value))
			}
		}
	}
	return s
}

func (s *Secrets) add(words ...string) {
	for _, word := range words {
		if len(word) >= shortest {
			s.words = append(s.words, word)
		}
	}
}

// Error is err with a text that shows none of s, and no credentials of any URL. errors.Is and As see err behind it.
func (s Secrets) Error(err error) error {
	if err == nil {
		return nil
	}
	text := Text(err.Error())
	for _, word := range s.words {
		text = strings.ReplaceAll(text, word, Shown)
	}
	return redacted{text, err}
}

type redacted struct {
	text  string
	cause error
}

func (r redacted) Error() string { return r.text }
func (r redacted) Unwrap() error { return r.cause }
