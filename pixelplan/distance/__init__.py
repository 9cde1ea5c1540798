"""DISTANCE: the number of steps from a state to a goal, learned inside a world model."""
