"""Generated from recommender/proto by `make generate`; never edited by hand."""
