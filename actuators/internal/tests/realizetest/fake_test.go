package realizetest_test

import (
	"errors"
	"testing"

	"sluice.dev/actuators/internal/tests/realizetest"
)

func TestFakeContract(t *testing.T) {
	realizetest.TestContract(t, func(*testing.T) realizetest.Fixture {
		fake := realizetest.NewFake(64)
		return realizetest.Fixture{
			Realizer: fake, Size: fake.Size, SetSize: fake.SetSize, Unbound: fake.Unbound, Stall: fake.Stall,
			SetUse: fake.SetUse, ReportsWaiting: true,
			Break: func() { fake.Break(errors.New("read or write size: out of order")) },
		}
	})
}
