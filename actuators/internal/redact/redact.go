// Package redact removes credentials from errors before people see them: in audit rows, on /status, in logs.
package redact

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"strings"
)

// Shown replaces a secret.
const Shown = "..."

// shortest is the least length of a secret that is searched as a word: shorter ones would match text that is no secret.
const shortest = 4

var (
	// Up to the last @: losing part of a path with an @ does less harm than showing a password with one.
	userinfo = regexp.MustCompile(`(://)[^\s"'<>?#]*@`)
	query    = regexp.MustCompile(`(://[^\s"'<>?#]*)[?#][^\s"'<>]*`)
)

// Text removes user and password, query and fragment from each URL in text.
func Text(text string) string {
	text = userinfo.ReplaceAllString(text, "${1}")
	return query.ReplaceAllString(text, "${1}?"+Shown)
}

// Secrets are the credentials that one configured target or source has. The zero value has none.
type Secrets struct{ words []string }

// Of collects the values of headers and, from URLs, users, passwords and the values of queries: a server may repeat them in
// its response, in any context.
func Of(headers map[string]string, urls ...string) Secrets {
	var s Secrets
	for _, value := range headers {
		s.add(value)
		if _, credential, ok := strings.Cut(value, " "); ok { // Bearer TOKEN
			s.add(credential)
		}
	}
	for _, text := range urls {
		u, err := url.Parse(text)
		if err != nil {
			continue // Text alone handles its errors
		}
		if password, ok := u.User.Password(); ok {
			s.add(password, url.QueryEscape(password), url.PathEscape(password))
			s.add(base64.StdEncoding.EncodeToString([]byte(u.User.Username() + ":" + password))) // as it is sent (RFC 7617)
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

// Error returns err with a text without the secrets of s and without the credentials of any URL. errors.Is and As see err
// behind it.
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
