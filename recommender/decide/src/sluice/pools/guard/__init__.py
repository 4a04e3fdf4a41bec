"""What binds a pool from outside of it: bounds, its backend's capacity, quiet hours, pauses, whose turn a look is."""
