package database

import (
	"errors"
	"net/url"
	"strings"
)

// escaped is a value as ClickHouse reads parameters: as a field of TabSeparated.
func escaped(value string) string {
	return strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`, "\x00", `\0`).Replace(value)
}

// withoutAddress leaves the URL out of an error: it holds the parameters.
func withoutAddress(err error) error {
	var about *url.Error
	if errors.As(err, &about) {
		return about.Err
	}
	return err
}
