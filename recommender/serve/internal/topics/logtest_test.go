package topics

import _ "github.com/twmb/franz-go/pkg/kfake"
