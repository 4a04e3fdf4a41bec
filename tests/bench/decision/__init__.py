"""The proof of the decision, part by part, on the compiled testbed; each part is a benchmark of its own.

Who is raced: the shipped default against rivals with data 2 s old (those with fresh data stand beside them), against
SCT and SCG as their papers apply them, and against sizes that are held. Seeds that something is judged on are never
those that it was chosen on.
"""
