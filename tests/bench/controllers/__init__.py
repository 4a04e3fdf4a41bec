"""What sizes pools in the race (`bench.race`): one algorithm a file, all behind `testbed.controller.Controller`."""
