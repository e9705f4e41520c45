"""Black-box audits: what the outputs of a mechanism prove about its privacy.

`bounds` needs only runs on two adjacent inputs; `covariance` uses that the noise is Gaussian.
"""
