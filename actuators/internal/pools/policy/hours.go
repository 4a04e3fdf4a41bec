package policy

import (
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// Hours are minutes of the day in UTC from Begin up to End, over midnight where End is not after Begin. 22:00-06:00 is {1320,
// 360}. The recommender's quiet_hours have the same form.
type Hours struct{ Begin, End int }

var hours = regexp.MustCompile(`^([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)$`)

const minutesADay = 24 * 60

// ParseHours reads HH:MM-HH:MM.
func ParseHours(text string) (Hours, error) {
	parts := hours.FindStringSubmatch(text)
	if parts == nil {
		return Hours{}, fmt.Errorf("%q: want two times of day in UTC, as 22:00-06:00", text)
	}
	var n [4]int
	for i := range n {
		n[i], _ = strconv.Atoi(parts[i+1])
	}
	return Hours{60*n[0] + n[1], 60*n[2] + n[3]}, nil
}

// Hold is true when now is within h.
func (h Hours) Hold(now time.Time) bool {
	now = now.UTC()
	length := (h.End - h.Begin + minutesADay) % minutesADay
	if length == 0 {
		length = minutesADay
	}
	return (60*now.Hour()+now.Minute()-h.Begin+minutesADay)%minutesADay < length
}

// String returns the form that ParseHours reads.
func (h Hours) String() string {
	return fmt.Sprintf("%02d:%02d-%02d:%02d", h.Begin/60, h.Begin%60, h.End/60, h.End%60)
}
