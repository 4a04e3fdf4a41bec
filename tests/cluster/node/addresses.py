"""Addresses of the node. A pair of interfaces joins the machine with the node's network namespace; the machine's routes
to pods and Services lead through it, so that a test reaches them as it would inside the cluster."""

#: The two ends of the pair: the machine's, and the node's.
MACHINE, NODE_END = "10.99.1.1", "10.99.1.2"
MACHINE_INTERFACE, NODE_INTERFACE, BRIDGE = "sluice-node", "machine", "pods"
#: The bridge of the pods. The API server and the kubelet listen here.
NODE = "10.99.0.1"
PODS = "10.99.0.0/24"
SERVICES = "10.96.0.0/16"
API_SERVICE, DNS_SERVICE = "10.96.0.1", "10.96.0.10"
API_PORT = 6443
URL = f"https://{NODE}:{API_PORT}"
NAME = "node1"
