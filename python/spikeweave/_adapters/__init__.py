"""Files, objects of other packages and terminals, in terms of the package's values."""
