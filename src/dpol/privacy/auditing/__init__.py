"""Black-box audits: what the outputs of a mechanism prove about its privacy.

`bounds` needs nothing but runs on two adjacent inputs; `laws` compares them with a computed law.
"""
