"""DISTANCE: how many steps lie between a state and a goal, learned inside a world model."""
