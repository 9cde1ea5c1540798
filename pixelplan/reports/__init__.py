"""REPORTS: what people look at: pictures, and what a data set or a model holds."""
