"""What the tests of all rooms share: drivers, references, fakes, and the watchdog of the local stack."""
