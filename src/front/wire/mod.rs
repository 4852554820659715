//! The JSON of `contract.md`: the only place that gives values their outside names.
