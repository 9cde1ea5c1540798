"""WORLD MODEL: an encoder, a forward model and an inverse model, learned from recorded play."""
