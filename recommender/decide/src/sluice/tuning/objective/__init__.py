"""What a trial measured, what it is worth, whether that is known well enough, and when to give it up."""
