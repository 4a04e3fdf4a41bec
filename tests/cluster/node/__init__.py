"""How the node is made: its namespaces, certificates, servers, images, volumes and names."""
