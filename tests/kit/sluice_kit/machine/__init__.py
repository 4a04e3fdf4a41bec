"""What the machine gives a test: processes, ports, cores, network namespaces, programs of Debian's packages."""
