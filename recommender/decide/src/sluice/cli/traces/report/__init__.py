"""The command `sluice report`: what recorded traces say of an application, without a stack."""
