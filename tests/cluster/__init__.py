"""A Kubernetes of one node with a kubelet, on this machine, and the tests that install Sluice on it."""
