"""What is compiled, or bypasses the language, for speed."""
