"""The claims ledger: statements of the papers that a computation can check."""
