"""The batch reference: what the stream's tables must hold, computed in plain Python from the records of the topic.

Written from design.md, the READMEs and the tables' comments, not from the Java code; for clarity, not for speed.
Messages are read with the generated protobuf classes. Each file gives one table as {key: row}.
"""
